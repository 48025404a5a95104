"""`tongsa train`, `tongsa resume` and `tongsa finetune`"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import (
    CORPORA_HELP,
    Corpora,
    Directory,
    MachineOptions,
    Minutes,
    Resume,
    Salvage,
    Seed,
    Settings,
    Valid,
    check_minutes,
    grouped,
    parse_settings,
    renamed,
)
from tongsa.runs.names import find_translator

if TYPE_CHECKING:
    from tongsa.runs.job import TrainOptions


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    panel: ClassVar[str] = "Text"

    valid: Valid = None
    encoding: Annotated[str | None, typer.Option("--encoding", help="Encoding of the text, for example cp949.")] = None
    salvage: Salvage = False

    def settings(self) -> dict[str, str]:
        encoding = {"corpus.encoding": self.encoding} if self.encoding else {}
        return encoding | ({"corpus.salvage": "true"} if self.salvage else {})


@dataclass(frozen=True, kw_only=True)
class BudgetOptions:
    panel: ClassVar[str] = "Recipe and budget"

    setting: Settings = None
    minutes: Minutes = None
    seed: Seed = 1
    resume: Resume = False

    def __post_init__(self) -> None:
        check_minutes(self.minutes)


@dataclass(frozen=True, kw_only=True)
class LogOptions:
    panel: ClassVar[str] = "Machine"

    log_to: Annotated[
        str, typer.Option("--log-to", help="Send all numbers to tensorboard, mlflow, wandb (with commas).")
    ] = ""

    def names(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.log_to.split(",") if name.strip())


@dataclass(frozen=True, kw_only=True)
class MixOptions:
    panel: ClassVar[str] = "Text"

    mix: Annotated[
        list[str] | None, typer.Option("--mix", help="Old text to mix in, so that the model does not forget it.")
    ] = None
    mix_ratio: Annotated[float, typer.Option("--mix-ratio", help="Old pairs for each new one.")] = 1.0


@dataclass(frozen=True, kw_only=True)
class FurtherTextOptions:
    panel: ClassVar[str] = "Text"

    mix: Annotated[
        list[str] | None, typer.Option("--mix", help="Further pairs to draw from, such as back-translations.")
    ] = None
    mix_ratio: Annotated[float, typer.Option("--mix-ratio", help="Pairs of --mix for each of the corpus.")] = 1.0


@dataclass(frozen=True, kw_only=True)
class TuneOptions:
    panel: ClassVar[str] = "Recipe and budget"

    tune: Annotated[
        int | None,
        typer.Option(
            "--tune",
            metavar="N",
            help="Try N recipes near the given one first, within the budget.",
        ),
    ] = None


@grouped
def train(
    corpus: Annotated[list[str] | None, typer.Argument(metavar="CORPUS...", help=CORPORA_HELP)] = None,
    source: Annotated[str, typer.Option("--from", help="Code of the source language, for example en.")] = "",
    target: Annotated[str, typer.Option("--to", help="Code of the target language, for example de.")] = "",
    out: Annotated[Path | None, typer.Option("--out", help="The translator directory to write.")] = None,
    task: Annotated[
        str,
        typer.Option(
            "--task",
            help="translation; lm or mlm: language models of plain text; classify: labelled texts or pictures.",
        ),
    ] = "translation",
    recipe: Annotated[
        str, typer.Option("--recipe", help="auto, the name of a recipe (tiny, small, base, big, ...), or a TOML file.")
    ] = "auto",
    init: Annotated[
        Path | None, typer.Option("--init", help="With --task classify: begin with this masked language model (mlm).")
    ] = None,
    subwords: Annotated[
        Path | None,
        typer.Option("--subwords", help="Use this translator's vocabulary: the members of an ensemble must share one."),
    ] = None,
    *,
    budget: BudgetOptions,
    search: TuneOptions,
    text: TextOptions,
    machine: MachineOptions,
    log: LogOptions,
    further: FurtherTextOptions,
) -> None:
    """Train a translator from parallel text.

    Example:  tongsa train data/train --from en --to de --valid data/valid --out runs/en-de --minutes 30
    """
    if out is None:
        raise UsageError("--out is missing: the directory to write the translator to", "For example:  --out runs/en-de")
    if budget.resume and not corpus and search.tune is None:  # as in version 0.1
        renamed("train --resume without a corpus", f"tongsa resume {out}")
        _resume(out, budget, machine, log)
        return
    if not corpus or (task == "translation" and not (source and target)):
        raise UsageError(
            "a training needs a corpus and its languages",
            "For example:  tongsa train data/train --from en --to de --out runs/en-de",
        )
    if init and recipe != "auto":
        raise UsageError("--init takes the recipe of its translator", "Change single keys of it with --set.")
    options = train_options(corpus, budget, text, machine)
    options = replace(options, mix=tuple(further.mix or ()), mix_ratio=further.mix_ratio)
    options = replace(options, source=source, target=target, task=task, recipe=recipe, loggers=log.names())
    options = replace(options, subwords=str(find_translator(subwords)) if subwords else None)
    if init:
        if task == "translation":  # as in version 0.1
            renamed("train --init", f"tongsa finetune {init} CORPUS --out {out}")
        options = replace(options, init=str(init))
    if search.tune is not None:
        _tune(options, out, search.tune)
        return
    run_training(options, out, resume=budget.resume)


@grouped
def resume(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The directory of the training, its --out.")],
    setting: Settings = None,
    minutes: Minutes = None,
    *,
    machine: MachineOptions,
    log: LogOptions,
) -> None:
    """Continue a training that was interrupted or killed, bit for bit; or train longer.

    Example:  tongsa resume runs/en-de
    """
    _resume(directory, BudgetOptions(setting=setting, minutes=minutes), machine, log)


@grouped
def finetune(
    directory: Directory,
    corpus: Corpora,
    out: Annotated[Path, typer.Option("--out", help="The translator directory to write.")],
    *,
    mix: MixOptions,
    budget: BudgetOptions,
    text: TextOptions,
    machine: MachineOptions,
    log: LogOptions,
) -> None:
    """Train a translator further, with new text; it keeps its vocabulary and recipe.

    Example:  tongsa finetune runs/en-de data/new --mix data/train --out runs/en-de-new --minutes 10
    """
    from tongsa.runs.directory import Run

    card = Run(directory).read_card()
    options = replace(
        train_options(corpus, budget, text, machine),
        source=card.source,
        target=card.target,
        init=str(directory),
        mix=tuple(mix.mix or ()),
        mix_ratio=mix.mix_ratio,
        loggers=log.names(),
    )
    run_training(options, out, resume=budget.resume)


def train_options(corpus: list[str], budget: BudgetOptions, text: TextOptions, machine: MachineOptions) -> TrainOptions:
    from tongsa.runs.job import TrainOptions

    return TrainOptions(
        corpora=tuple(corpus),
        valid=tuple(text.valid or ()),
        settings={**parse_settings(budget.setting), **text.settings()},
        minutes=budget.minutes,
        seed=budget.seed,
        threads=machine.threads,
        device=machine.device,
    )


def run_training(options: TrainOptions, out: Path, *, resume: bool) -> None:
    from tongsa.base.progress import for_this_stream
    from tongsa.runs.directory import Run
    from tongsa.training.run import train_with

    _finish(train_with(options, Run(out), for_this_stream(), resume=resume))


def _tune(options: TrainOptions, out: Path, count: int) -> None:
    from tongsa.base.progress import for_this_stream
    from tongsa.runs.directory import Run
    from tongsa.training.tuning import Tuning

    finished = Tuning(options=options, run_directory=Run(out), count=count).run(for_this_stream())
    _finish(finished or None)


def _resume(directory: Path, budget: BudgetOptions, machine: MachineOptions, log: LogOptions) -> None:
    from tongsa.base.progress import for_this_stream
    from tongsa.training.run import resume as resume_training

    device = None if machine.device == "auto" else machine.device
    settings = parse_settings(budget.setting)
    _finish(
        resume_training(
            directory,
            settings=settings,
            minutes=budget.minutes,
            device=device,
            loggers=log.names(),
            show=for_this_stream(),
        )
    )


def _finish(trained: object) -> None:
    if trained is None and os.getenv("RANK", "0") == "0":  # of several processes, only rank 0 has a result
        raise typer.Exit(130)  # interrupted: a script must not continue as if there were a translator
