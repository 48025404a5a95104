"""`tongsa`: the commands, and how errors reach the user."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import Any

import typer

from tongsa import __version__
from tongsa.base.devices import share_cores
from tongsa.base.errors import TongsaError, torch_needed
from tongsa.cli.language import run, translated
from tongsa.cli.options import renamed

PANELS: dict[str, dict[str, str]] = {
    "Train": {
        "train": "train:train",
        "resume": "train:resume",
        "finetune": "train:finetune",
        "distill": "distill:distill",
        "backtranslate": "backtranslate:backtranslate",
        "rounds": "backtranslate:rounds",
        "demo": "demo:demo",
    },
    "Translate": {
        "translate": "translate:translate",
        "document": "document:document",
        "serve": "serve:serve",
        "generate": "generate:generate",
        "classify": "classify:classify",
    },
    "Measure and look inside": {
        "evaluate": "evaluate:evaluate",
        "score": "score:score",
        "inspect": "inspect:inspect",
        "explain": "explain:explain",
        "speedrun": "speedrun:speedrun",
    },
    "Other programs, this machine": {
        "get": "get:get",
        "export": "export:export",
        "import": "import_:import_",
        "doctor": "doctor:doctor",
    },
}
"""Commands by panel of the help: module and function. A module is imported when its command, or all help, is needed."""
COMMANDS = {name: place for panel in PANELS.values() for name, place in panel.items()}
GROUPS = {
    "corpus": "Train",
    "parse": "Measure and look inside",
    "lab": "Measure and look inside",
    "paper": "Measure and look inside",
}
"""Groups of commands, each the `app` of its module, by panel."""
OLD = {"compare": "compare:compare", "babi": "babi:babi", "lm": "lm:lm"}
"""Commands of version 0.1 that are in the group lab now."""


def load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f"tongsa.cli.{module}"), name)


def application(only: str | None = None) -> typer.Typer:
    """The command line; with the name of a command, this command alone, which is quicker to import."""
    app = typer.Typer(
        name="tongsa",
        help="Parallel text in, a private translator out.",
        epilog="First steps:  tongsa demo  |  tongsa train data/train --from en --to de --out runs/en-de",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for panel, commands in PANELS.items():
        for name, place in commands.items():
            if only in (None, name):
                app.command(name, rich_help_panel=panel)(load(place))
    for name, panel in GROUPS.items():
        if only in (None, name):
            app.add_typer(load(f"{name}:app"), rich_help_panel=panel)
    for name, place in OLD.items():
        if only in (None, name):
            app.command(name, hidden=True)(_old(name, load(place)))
    return app


def _old(name: str, command: Callable[..., None]) -> Callable[..., None]:
    """A command of version 0.1 under its old name."""

    def run(**values: Any) -> None:
        renamed(f"tongsa {name}", f"tongsa lab {name}")
        command(**values)

    run.__doc__ = command.__doc__
    run.__annotations__ = command.__annotations__
    run.__signature__ = signature(command)  # type: ignore[attr-defined]
    return run


def _version(asked: bool) -> None:
    if asked:
        print(f"tongsa {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(False, "--version", help="Print the version.", callback=_version, is_eager=True),
) -> None:
    """Parallel text in, a private translator out."""


def main() -> None:
    """Errors that a user can meet are printed without a traceback; the exit code is 2."""
    share_cores()
    known = {*COMMANDS, *GROUPS, *OLD}
    only = sys.argv[1] if len(sys.argv) > 1 and sys.argv[1] in known else None
    try:
        with torch_needed(f"tongsa {only}" if only else "this command"):
            run(application(only))
    except TongsaError as error:
        print(f"{translated('error')}: {error.printable(translated)}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print(translated("interrupted"), file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has exited, as `head` does
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:  # a full disk under standard output or the log
        told = f"{error.filename or translated('the output')} cannot be written: {error.strerror or error}"
        print(f"{translated('error')}: {translated(told)}", file=sys.stderr)
        sys.stdout = None  # its buffer could not be written either
        sys.exit(2)
