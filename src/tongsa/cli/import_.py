"""`tongsa import`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def import_(
    directory: Annotated[Path, typer.Argument(metavar="MARIAN", help="A MarianMT directory of transformers.")],
    out: Annotated[Path, typer.Option("--to", help="The translator directory to write.")],
    source: Annotated[str, typer.Option("--source", help="Source language, if the model does not name it.")] = "",
    target: Annotated[str, typer.Option("--target", help="Target language, if the model does not name it.")] = "",
) -> None:
    """Make a translator from a MarianMT model, such as those of OPUS-MT.

    Example:  tongsa import opus-mt-en-de --to runs/opus-en-de --source en --target de
    """
    from tongsa.engines.marian.importer import import_marian

    card = import_marian(directory, out, source=source, target=target)
    print(f"{card.source} to {card.target}: {out}")
