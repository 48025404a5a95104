"""`tongsa lab`: experiments with the systems of the paper"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from tongsa.cli import babi, compare, lm
from tongsa.cli.options import parse_settings

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


@app.command("run")
def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the experiment.")],
    out: Annotated[Path, typer.Option("--out", help="Directory for the results.")],
    setting: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE: an option of the experiment.")] = None,
) -> None:
    """Run an experiment by name, including those of other packages.

    Example:  tongsa lab run compare --set models=lstm,transformer --set corpora=data/train --set source=en
    --set target=de --set minutes=20 --out runs/compare
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.lab import EXPERIMENTS
    from tongsa.lab.experiment import read_options

    experiment = EXPERIMENTS.find(name)
    print(experiment.run(read_options(experiment.options, parse_settings(setting)), out, for_this_stream()))
