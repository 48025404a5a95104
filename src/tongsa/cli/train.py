"""`tongsa train`"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import CORPORA_HELP, Device, Salvage, Threads


def train(
    corpus: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CORPUS...",
            help=CORPORA_HELP,
        ),
    ] = None,
    source: Annotated[str, typer.Option("--from", help="Code of the source language, for example en.")] = "",
    target: Annotated[str, typer.Option("--to", help="Code of the target language, for example de.")] = "",
    out: Annotated[Path | None, typer.Option("--out", help="The translator directory to write.")] = None,
    valid: Annotated[
        list[str] | None, typer.Option("--valid", help="Corpus to validate on; otherwise a part is held out.")
    ] = None,
    recipe: Annotated[
        str, typer.Option("--recipe", help="auto, the name of a recipe (tiny, small, base, big, ...), or a TOML file.")
    ] = "auto",
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="SECTION.KEY=VALUE: change any key of the recipe.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option("--minutes", help="Train so long; the learning rate is planned for it.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of everything random.")] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the training in --out.")] = False,
    init: Annotated[
        Path | None, typer.Option("--init", help="Fine-tune: begin with the weights and subwords of this translator.")
    ] = None,
    mix: Annotated[
        list[str] | None, typer.Option("--mix", help="With --init: old text to mix in, against forgetting.")
    ] = None,
    mix_ratio: Annotated[float, typer.Option("--mix-ratio", help="Old pairs for each new one.")] = 1.0,
    threads: Threads = None,
    device: Device = "auto",
    encoding: Annotated[str | None, typer.Option("--encoding", help="Encoding of the text, for example cp949.")] = None,
    salvage: Salvage = False,
) -> None:
    """Train a translator from parallel text.

    Example:  tongsa train data/train --from en --to de --valid data/valid --out runs/en-de --minutes 30
    """
    from tongsa.base.progress import for_this_stream

    if out is None:
        raise UsageError(
            "--out is missing: the directory that the translator is written to", "For example --out runs/en-de"
        )
    if not resume and not (corpus and source and target):
        raise UsageError(
            "a training needs a corpus and its languages",
            "For example:  tongsa train data/train --from en --to de --out runs/en-de",
        )
    if init and recipe != "auto":
        raise UsageError("--init takes the recipe of its translator", "Change single keys of it with --set.")
    if mix and not init:
        raise UsageError("--mix goes with --init", "Without it, name all corpora one after the other.")
    if minutes is not None and not 0 < minutes < float("inf"):
        raise UsageError(f"--minutes must be above 0, not {minutes:g}")
    if seed < 0:
        raise UsageError(f"--seed must not be negative, but is {seed}")
    if threads is not None and threads < 1:
        raise UsageError(f"--threads must be at least 1, not {threads}")
    settings = parse(setting or [])
    if encoding:
        settings["corpus.encoding"] = encoding
    if salvage:
        settings["corpus.salvage"] = "true"
    import tongsa

    translator = tongsa.train(
        corpus or [],
        source=source,
        target=target,
        out=out,
        valid=valid,
        recipe=recipe,
        settings=settings,
        minutes=minutes,
        seed=seed,
        resume=resume,
        threads=threads,
        device=device,
        show=for_this_stream(),
        init=init,
        mix=mix,
        mix_ratio=mix_ratio,
    )
    if translator is None and os.getenv("RANK", "0") == "0":  # of several, only the leading one gives one back
        raise typer.Exit(130)  # interrupted: a script must not go on as if there were a translator


def parse(settings: list[str]) -> dict[str, str]:
    """`["model.d_model=256"]` as a dict; the recipe checks keys and values."""
    wrong = [setting for setting in settings if "=" not in setting]
    if wrong:
        raise UsageError(
            f"--set {wrong[0]} has no value", "A setting is SECTION.KEY=VALUE, for example model.d_model=256"
        )
    parts = [setting.partition("=") for setting in settings]
    return {key.strip(): value.strip() for key, _, value in parts}
