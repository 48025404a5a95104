"""`tongsa explain`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.language import preferred_language
from tongsa.cli.options import Directory, MachineOptions, grouped


@grouped
def explain(
    directory: Directory,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Sentence to translate and explain.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Page to write.")] = Path("walk-through.html"),
    values: Annotated[Path | None, typer.Option("--values", help="Write every number as JSON, too.")] = None,
    worksheet: Annotated[
        Path | None, typer.Option("--worksheet", help="Write a page of exercises with answers, to print, too.")
    ] = None,
    layer: Annotated[int, typer.Option("--layer", help="Layer to show in detail, from 1.")] = 1,
    head: Annotated[int, typer.Option("--head", help="Head to show in detail, from 1.")] = 1,
    language: Annotated[str, typer.Option("--language", help="Language of the page: en or ko.")] = preferred_language(),
    *,
    machine: MachineOptions,
) -> None:
    """Go through a translation equation by equation, with the numbers of this model and sentence.

    Example:  tongsa explain runs/ko-en "나는 책을 읽는다." --out walk-through.html
    """
    from tongsa.lab.question import LANGUAGES

    if language not in LANGUAGES:
        raise UsageError(f"no page in {language!r}", f"Known: {', '.join(LANGUAGES)}")
    from tongsa.lab.walk_through.explaining import Explained, explain_sentence
    from tongsa.translation.translator import Translator

    translator = Translator.load(directory, engine="native", threads=machine.threads, device=machine.device)
    wanted = Explained(page=out, values=values, worksheet=worksheet)
    for written in explain_sentence(translator, text, wanted, layer=layer, head=head, language=language):
        print(written)
