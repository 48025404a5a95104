"""`tongsa distill`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tongsa.cli.options import (
    Corpora,
    Directory,
    Encoding,
    MachineOptions,
    Minutes,
    Resume,
    Seed,
    Settings,
    Valid,
    grouped,
    parse_settings,
)
from tongsa.config.sections import MAX_BEAM


@grouped
def distill(
    teacher: Directory,
    corpus: Corpora,
    out: Annotated[Path, typer.Option("--out", help="The translator directory to write.")],
    recipe: Annotated[
        str | None,
        typer.Option("--recipe", help="The student's recipe (the teacher's own with two decoder layers by default)."),
    ] = None,
    setting: Settings = None,
    valid: Valid = None,
    beam: Annotated[int, typer.Option("--beam", help="Beam of the teacher's search.", min=1, max=MAX_BEAM)] = 4,
    minutes: Minutes = None,
    seed: Seed = 1,
    resume: Resume = False,
    scratch: Annotated[
        bool, typer.Option("--scratch", help="Start from random weights instead of the teacher's.")
    ] = False,
    teacher_only: Annotated[
        bool,
        typer.Option("--teacher-only", help="Learn from the teacher's translations alone, without references."),
    ] = False,
    encoding: Encoding = "utf-8",
    *,
    machine: MachineOptions,
) -> None:
    """Train a small, fast student on a teacher's translations: a deep encoder, a shallow decoder.

    Example:  tongsa distill runs/en-de data/train --valid data/valid --out runs/en-de-fast --minutes 30
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.runs.job import TrainOptions
    from tongsa.training.distill import distil

    settings = parse_settings(setting)
    options = TrainOptions(
        corpora=tuple(corpus),
        valid=tuple(valid or ()),
        recipe=recipe or "auto",
        settings=settings if encoding == "utf-8" else {**settings, "corpus.encoding": encoding},
        minutes=minutes,
        seed=seed,
        threads=machine.threads,
        device=machine.device,
    )
    distil(
        teacher,
        options,
        out,
        beam=beam,
        inherit=not scratch,
        references=not teacher_only,
        resume=resume,
        show=for_this_stream(),
    )
