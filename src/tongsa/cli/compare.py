"""`tongsa compare`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import CORPORA_HELP, Device, Threads, check_threads
from tongsa.cli.train import parse


def compare(
    corpus: Annotated[list[str], typer.Argument(metavar="CORPUS...", help=CORPORA_HELP)],
    source: Annotated[str, typer.Option("--from", help="Source language, for example en.")],
    target: Annotated[str, typer.Option("--to", help="Target language, for example de.")],
    models: Annotated[
        str, typer.Option("--models", help="Recipes, architectures or TOML files, with commas between them.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Directory of the comparison; the same command goes on in it.")],
    minutes: Annotated[float | None, typer.Option("--minutes", help="Of training, for each model.")] = None,
    updates: Annotated[int | None, typer.Option("--updates", help="Of the weights, for each model.")] = None,
    match_parameters: Annotated[
        bool, typer.Option("--match-parameters", help="Scale d_model until all have as many as the Transformer.")
    ] = False,
    valid: Annotated[
        list[str] | None, typer.Option("--valid", help="Corpus to validate on (otherwise some is held out).")
    ] = None,
    test: Annotated[
        list[str] | None, typer.Option("--test", help="Corpus to compare on (otherwise the validation set).")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="SECTION.KEY=VALUE: change a key of every model's recipe.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of everything random.")] = 1,
    threads: Threads = None,
    device: Device = "auto",
) -> None:
    """Train several architectures on the same ids with the same budget, and compare them.

    It can be interrupted at any time: the same command goes on. Models can join later.

    Example:  tongsa compare data/train --from en --to de --models lstm,lstm-attention,transformer --minutes 20
    --valid data/valid --test data/test --out runs/compare
    """
    check_threads(threads)
    if minutes is not None and not 0 < minutes < float("inf"):
        raise UsageError(f"--minutes must be above 0, not {minutes:g}")
    if updates is not None and updates < 1:
        raise UsageError(f"--updates must be at least 1, not {updates}")
    if seed < 0:
        raise UsageError(f"--seed must not be negative, but is {seed}")
    settings = parse(setting or [])
    from tongsa.base.progress import for_this_stream
    from tongsa.lab.compare.running import compare as run
    from tongsa.lab.compare.table import terminal

    found = run(
        corpus,
        models=models,
        source=source,
        target=target,
        out=out,
        valid=valid,
        test=test,
        minutes=minutes,
        updates=updates,
        match_parameters=match_parameters,
        settings=settings,
        seed=seed,
        threads=threads,
        device=device,
        show=for_this_stream(),
    )
    if found is None:
        raise typer.Exit(130)
    print(terminal(found))
    if found.failed:
        raise typer.Exit(1)
