"""`tongsa`: the commands, and how errors reach the user."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from tongsa import __version__
from tongsa.base.errors import TongsaError
from tongsa.cli import (
    babi,
    compare,
    corpus,
    demo,
    distill,
    doctor,
    evaluate,
    export,
    import_,
    inspect,
    lm,
    score,
    serve,
    train,
    translate,
)

app = typer.Typer(
    name="tongsa",
    help="Parallel text in, a private translator out.",
    epilog="First steps:  tongsa demo  |  tongsa train data/train --from en --to de --out runs/en-de",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMANDS: dict[str, Callable[..., None]] = {
    "train": train.train,
    "translate": translate.translate,
    "evaluate": evaluate.evaluate,
    "score": score.score,
    "inspect": inspect.inspect,
    "compare": compare.compare,
    "export": export.export,
    "import": import_.import_,
    "distill": distill.distill,
    "babi": babi.babi,
    "lm": lm.lm,
    "demo": demo.demo,
    "serve": serve.serve,
    "doctor": doctor.doctor,
}
for _name, _command in COMMANDS.items():
    app.command(_name)(_command)
app.add_typer(corpus.app)


def _version(asked: bool) -> None:
    if asked:
        print(f"tongsa {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Parallel text in, a private translator out."""


def main() -> None:
    """Errors that a user can meet are printed without a traceback; the exit code is 2."""
    try:
        app(prog_name="tongsa")  # also where it is run as `python -m tongsa`
    except TongsaError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:  # a full disk below standard output or the log
        print(f"error: {error.filename or 'the output'} cannot be written: {error.strerror or error}", file=sys.stderr)
        sys.stdout = None  # what it still holds could not be written either
        sys.exit(2)
