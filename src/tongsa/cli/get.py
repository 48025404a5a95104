"""`tongsa get`"""

from __future__ import annotations

from typing import Annotated

import typer


def get(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="Languages (en-de), or a model (Helsinki-NLP/opus-mt-tc-big-en-ko).")
    ] = "",
    kept_as: Annotated[str, typer.Option("--as", help="Name to keep it under (by default the one given).")] = "",
) -> None:
    """Fetch a model of OPUS-MT as a translator, to be used by its name; without a name, list the translators.

    Example:  tongsa get en-de      tongsa translate en-de "Good morning."
    """
    if not name:
        _list()
        return
    from tongsa.base.progress import for_this_stream
    from tongsa.engines.marian.hub import fetch, place
    from tongsa.runs.directory import Run

    out = place(kept_as or name)
    if Run(out).card_file.exists():
        print(f"{out.name} is already there: {out}\nTo fetch it again, remove this directory.")
        return
    card = fetch(name, out, for_this_stream())
    print(f"{card.source} to {card.target}: {out}")
    print(f'try it: tongsa translate {out.name} "..."      tongsa finetune {out.name} CORPUS --out DIR')


def _list() -> None:
    """Print the translators that have a name."""
    from tongsa.runs.directory import Run
    from tongsa.runs.names import known, shipped

    for name, path in sorted(known().items()):
        card = Run(path).read_card()
        where = "shipped with Tongsa" if path in shipped().values() else str(path)
        licence = f", {card.training.licence}" if card.training.licence else ""
        print(f"{name:16} {card.source} to {card.target}, {where}{licence}")
    if not known():
        print("no translator has a name yet; to fetch one:  tongsa get en-de")
