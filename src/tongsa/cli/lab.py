"""`tongsa lab`: experiments with the systems of the paper"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from tongsa.cli import babi, compare, digits, lm
from tongsa.cli.language import preferred_language
from tongsa.cli.options import parse_settings

app = typer.Typer(
    name="lab",
    help="Experiments: the paper's comparisons on your own text.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMANDS: dict[str, Callable[..., None]] = {
    "compare": compare.compare,
    "babi": babi.babi,
    "lm": lm.lm,
    "digits": digits.digits,
}
for _name, _command in COMMANDS.items():
    app.command(_name)(_command)


def _asking(name: str) -> Callable[..., None]:
    """The command that answers a question; `all` answers every one."""
    from tongsa.lab.questions import QUESTIONS

    asked = list(QUESTIONS.values()) if name == "all" else [QUESTIONS[name]]

    def ask(
        translator: Annotated[Path | None, typer.Argument(metavar="RUN", help="A translator to look at.")] = None,
        out: Annotated[Path, typer.Option("--out", help="Directory of the values and the page.")] = Path("lab"),
        seeds: Annotated[int, typer.Option("--seeds", min=2, help="Trainings or samples of each kind.")] = 3,
        language: Annotated[str, typer.Option("--language", help="en or ko.")] = preferred_language(),
    ) -> None:
        from tongsa.base.devices import usable_cores
        from tongsa.base.progress import for_this_stream
        from tongsa.lab.answering import answer_questions
        from tongsa.lab.question import Lab

        lab = Lab(folder=out, show=for_this_stream(), seeds=seeds, run=translator, threads=usable_cores())
        page = out / ("lab.html" if name == "all" else f"{name}.html")
        print("\n\n".join([*answer_questions(asked, lab, language, page), f"written: {page}"]))

    asks = "Answer every question, on one page."
    if len(asked) == 1:
        korean = preferred_language() == "ko"
        asks = asked[0].korean if korean else f"{asked[0].english} ({asked[0].korean})"
    ask.__doc__ = f"{asks}\n\nExample:  tongsa lab {name} --out lab"
    return ask


def _add_questions() -> None:
    from tongsa.lab.questions import QUESTIONS

    for name in (*QUESTIONS, "all"):
        app.command(name, rich_help_panel="Questions about the paper")(_asking(name))


_add_questions()


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
