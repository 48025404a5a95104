"""`tongsa`: the commands, and how errors reach the user."""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import signature as inspect_signature
from typing import Any

import typer

from tongsa import __version__
from tongsa.base.errors import TongsaError
from tongsa.cli import (
    corpus,
    demo,
    distill,
    doctor,
    document,
    evaluate,
    export,
    import_,
    inspect,
    lab,
    score,
    serve,
    train,
    translate,
)
from tongsa.cli.options import renamed

app = typer.Typer(
    name="tongsa",
    help="Parallel text in, a private translator out.",
    epilog="First steps:  tongsa demo  |  tongsa train data/train --from en --to de --out runs/en-de",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PANELS: dict[str, dict[str, Callable[..., None]]] = {
    "Train": {
        "train": train.train,
        "resume": train.resume,
        "finetune": train.finetune,
        "distill": distill.distill,
        "demo": demo.demo,
    },
    "Translate": {
        "translate": translate.translate,
        "document": document.document,
        "serve": serve.serve,
    },
    "Measure and look inside": {
        "evaluate": evaluate.evaluate,
        "score": score.score,
        "inspect": inspect.inspect,
    },
    "Other programs, this machine": {
        "export": export.export,
        "import": import_.import_,
        "doctor": doctor.doctor,
    },
}
COMMANDS = {name: command for panel in PANELS.values() for name, command in panel.items()}
GROUPS = {"corpus": corpus.app, "lab": lab.app}


def _old(name: str, command: Callable[..., None]) -> Callable[..., None]:
    """A command of version 0.1 under its old name."""

    def run(**values: Any) -> None:
        renamed(f"tongsa {name}", f"tongsa lab {name}")
        command(**values)

    run.__doc__ = command.__doc__
    run.__annotations__ = command.__annotations__
    run.__signature__ = inspect_signature(command)  # type: ignore[attr-defined]
    return run


for _panel, _commands in PANELS.items():
    for _name, _command in _commands.items():
        app.command(_name, rich_help_panel=_panel)(_command)
app.add_typer(corpus.app, rich_help_panel="Train")
app.add_typer(lab.app, rich_help_panel="Measure and look inside")
for _name, _command in lab.COMMANDS.items():
    app.command(_name, hidden=True)(_old(_name, _command))


def _version(asked: bool) -> None:
    if asked:
        print(f"tongsa {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", help="Print the version.", callback=_version, is_eager=True),
) -> None:
    """Parallel text in, a private translator out."""


def main() -> None:
    """Errors that a user can meet are printed without a traceback; the exit code is 2."""
    try:
        app(prog_name="tongsa")  # also when run as `python -m tongsa`
    except TongsaError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has exited, as `head` does
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:  # a full disk under standard output or the log
        print(f"error: {error.filename or 'the output'} cannot be written: {error.strerror or error}", file=sys.stderr)
        sys.stdout = None  # its buffer could not be written either
        sys.exit(2)
