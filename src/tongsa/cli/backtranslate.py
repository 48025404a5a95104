"""`tongsa backtranslate`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import Directory, EngineOptions, SearchOptions, grouped
from tongsa.runs.names import ensemble_members


@grouped
def backtranslate(
    directory: Directory,
    text: Annotated[Path, typer.Argument(metavar="TEXT", help="Text in one language, a sentence a line; also .gz.")],
    out: Annotated[Path, typer.Option("--out", help="The corpus to write: a prefix, or a file such as synthetic.tsv.")],
    forward: Annotated[
        bool, typer.Option("--forward", help="TEXT is the source of the pairs (self-training), not the target.")
    ] = False,
    tag: Annotated[
        bool, typer.Option("--tag/--no-tag", help="Begin synthetic sources with <BT>, so that a model can tell them.")
    ] = True,
    resume: Annotated[bool, typer.Option("--resume", help="Continue where an interrupted run stopped.")] = False,
    *,
    search: SearchOptions,
    engine: EngineOptions,
) -> None:
    """Make a corpus from text in one language: its translations become the other side.

    To train en-de, translate German text with de-en; then mix the pairs in.

    Example:  tongsa backtranslate runs/de-en news.de --out data/synthetic
    """
    from tongsa.cli.lines import LineTranslation, OutputFormat
    from tongsa.corpus.synthetic import TAG, Synthetic
    from tongsa.runs.directory import Run
    from tongsa.translation.options import TranslateOptions

    if search.nbest > 1:
        raise UsageError("back-translation takes one translation of each line", "Leave out --nbest.")
    if not text.is_file():
        raise UsageError(f"{text} is not a file")
    translator = engine.load(directory)
    options = TranslateOptions(search=search.over(translator.search))
    weights = [Run(path).weights_file for path in ensemble_members(directory)]
    plain = OutputFormat(nbest=1, scores=False, alignment=False)
    lines = LineTranslation(translator, options, plain, weights=weights)
    translations = out.with_name(f"{out.name}.translations")
    lines.to_file(text, translations, resume=resume)
    lines.tell_notes()
    card = translator.card
    made = Synthetic(
        text=text,
        translations=translations,
        language=card.source,
        other=card.target,
        forward=forward,
        tag=TAG if tag else "",
    )
    tally = made.write(out)
    translations.unlink()
    for line in tally.lines():
        print(line)
    print(f"{tally.kept:,} pairs: {out}")
    source, target = (card.source, card.target) if forward else (card.target, card.source)
    print(f"Next:  tongsa train data/train --mix {out} --valid data/valid --from {source} --to {target} --out ...")
