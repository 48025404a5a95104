"""`tongsa distill`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import Corpora, Device, Encoding, Threads


def distill(
    teacher: Annotated[Path, typer.Argument(metavar="TEACHER", help="The translator directory to learn from.")],
    corpus: Corpora,
    out: Annotated[Path, typer.Option("--out", help="The translator directory to write.")],
    recipe: Annotated[
        str | None,
        typer.Option("--recipe", help="Of the student; by default the teacher's own with two decoder layers."),
    ] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="SECTION.KEY=VALUE.")] = None,
    valid: Annotated[list[str] | None, typer.Option("--valid", help="Corpus to validate on.")] = None,
    beam: Annotated[int, typer.Option("--beam", help="Of the teacher's search.")] = 4,
    minutes: Annotated[float | None, typer.Option("--minutes", help="Train so long.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of everything random.")] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it was interrupted.")] = False,
    scratch: Annotated[
        bool, typer.Option("--scratch", help="Begin with random weights instead of those of the teacher that fit.")
    ] = False,
    teacher_only: Annotated[
        bool, typer.Option("--teacher-only", help="Learn from what the teacher writes, not from the corpus's own.")
    ] = False,
    encoding: Encoding = "utf-8",
    threads: Threads = None,
    device: Device = "auto",
) -> None:
    """Train a small, fast student on a teacher's translations: a deep encoder, a shallow decoder.

    Example:  tongsa distill runs/en-de data/train --valid data/valid --out runs/en-de-fast --minutes 30
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.cli.train import parse
    from tongsa.training.distill import distil

    if minutes is not None and not 0 < minutes < float("inf"):
        raise UsageError(f"--minutes must be above 0, not {minutes:g}")
    distil(
        teacher,
        corpus,
        out=out,
        recipe=recipe,
        settings=parse(setting or []),
        valid=valid,
        beam=beam,
        minutes=minutes,
        seed=seed,
        resume=resume,
        encoding=encoding,
        threads=threads,
        device=device,
        show=for_this_stream(),
        inherit=not scratch,
        references=not teacher_only,
    )
