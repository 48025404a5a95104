"""`tongsa lab compare`"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import (
    Corpora,
    MachineOptions,
    Seed,
    Settings,
    Valid,
    check_minutes,
    grouped,
    parse_settings,
)


@dataclass(frozen=True, kw_only=True)
class BudgetOptions:
    """What every model may spend."""

    panel: ClassVar[str] = "Training"

    minutes: Annotated[float | None, typer.Option("--minutes", help="Training time of each model.")] = None
    updates: Annotated[
        int | None, typer.Option("--updates", help="Updates of each model; with --minutes too, both are compared.")
    ] = None
    seeds: Annotated[int, typer.Option("--seeds", help="Trainings of each model, from consecutive seeds.", min=1)] = 1
    match_parameters: Annotated[
        bool, typer.Option("--match-parameters", help="Scale d_model until all have as many as the Transformer.")
    ] = False
    seed: Seed = 1

    def check(self) -> None:
        check_minutes(self.minutes)
        if self.updates is not None and self.updates < 1:
            raise UsageError(f"--updates must be at least 1, not {self.updates}")


@grouped
def compare(
    corpus: Corpora,
    source: Annotated[str, typer.Option("--from", help="Source language, for example en.")],
    target: Annotated[str, typer.Option("--to", help="Target language, for example de.")],
    models: Annotated[
        str,
        typer.Option(
            "--models", help="Recipes, architectures or TOML files, with commas; all: every system with a recipe."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Directory of the comparison; run the same command to continue.")],
    valid: Valid = None,
    test: Annotated[
        list[str] | None, typer.Option("--test", help="Corpus to compare on (otherwise the validation set).")
    ] = None,
    metric: Annotated[
        str, typer.Option("--metric", help="Metrics with commas between them; the first one ranks.")
    ] = "bleu,chrf",
    setting: Settings = None,
    *,
    training: BudgetOptions,
    machine: MachineOptions,
) -> None:
    """Train several architectures on the same ids with the same budget, and compare them.

    It can be interrupted at any time: the same command continues. Models and seeds can be added later. Started several
    times at once, the processes share the trainings.

    Example:  tongsa lab compare data/train --from en --to de --models all --seeds 3 --match-parameters --minutes 20
    --valid data/valid --test data/test --out runs/compare
    """
    training.check()
    settings = parse_settings(setting)
    from tongsa.base.progress import for_this_stream
    from tongsa.lab.compare.plan import CompareOptions
    from tongsa.lab.compare.running import compare as run
    from tongsa.lab.compare.table import terminal

    options = CompareOptions(
        models=tuple(models.split(",")),
        corpora=tuple(corpus),
        source=source,
        target=target,
        valid=tuple(valid or ()),
        test=tuple(test or ()),
        metrics=tuple(name.strip() for name in metric.split(",")),
        settings=settings,
        threads=machine.threads,
        device=machine.device,
        **asdict(training),
    )
    found = run(options, out, for_this_stream())
    if found is None:
        raise typer.Exit(130)
    print(terminal(found))
    if found[0].unfinished:
        raise typer.Exit(1)
