"""`tongsa lab`: experiments with the systems of the paper"""

from __future__ import annotations

from collections.abc import Callable

import typer

from tongsa.cli import babi, compare, lm

app = typer.Typer(
    name="lab",
    help="Experiments: the paper's comparisons on your own text.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMANDS: dict[str, Callable[..., None]] = {"compare": compare.compare, "babi": babi.babi, "lm": lm.lm}
for _name, _command in COMMANDS.items():
    app.command(_name)(_command)
