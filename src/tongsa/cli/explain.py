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
    import json

    from tongsa.base.files import write_atomically
    from tongsa.lab.walk_through.page import as_values, draw_walk
    from tongsa.lab.walk_through.steps import walk_through
    from tongsa.translation.translator import Translator

    translator = Translator.load(directory, engine="native", threads=machine.threads, device=machine.device)
    walk = walk_through(translator, text, layer=layer, head=head)
    if values:
        write_atomically(values, json.dumps(as_values(walk), ensure_ascii=False, allow_nan=False) + "\n")
        print(values)
    write_atomically(out, draw_walk(walk, language))
    print(out)
