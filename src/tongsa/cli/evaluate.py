"""`tongsa evaluate`"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tongsa.base.errors import CorpusError
from tongsa.cli.options import (
    Beam,
    Corpora,
    Directory,
    Encoding,
    EngineOptions,
    LengthPenalty,
    Salvage,
    SearchOptions,
    grouped,
)

if TYPE_CHECKING:
    from tongsa.base.progress import Show
    from tongsa.decoding.search import Search
    from tongsa.translation.translator import Translator


@grouped
def evaluate(
    directory: Directory,
    corpus: Corpora,
    metric: Annotated[
        str, typer.Option("--metric", help="Names of metrics, with commas (by default bleu,chrf,ter).")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as one JSON object.")] = False,
    save: Annotated[Path | None, typer.Option("--save", help="Write the translations to this file.")] = None,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    encoding: Encoding = "utf-8",
    salvage: Salvage = False,
    *,
    engine: EngineOptions,
) -> None:
    """Translate a test corpus and score it against its references (sacrebleu).

    Example:  tongsa evaluate runs/en-de data/test --metric bleu,chrf --json
    """
    from tongsa.base.files import write_atomically
    from tongsa.base.progress import for_this_stream
    from tongsa.evaluation.metrics import METRICS, TRANSLATION_METRICS, score, text_metrics
    from tongsa.formats.pairs import Reading, open_corpus

    metrics = [name.strip().lower() for name in metric.split(",") if name.strip()] or TRANSLATION_METRICS
    text_metrics(metrics)  # report an unknown metric before minutes of translating
    translator = engine.load(directory)
    source, target = translator.card.source, translator.card.target
    opened = open_corpus(corpus, Reading(source=source, target=target, encoding=encoding, salvage=salvage))
    pairs = list(opened)
    show = for_this_stream()
    if not pairs:
        raise CorpusError(f"{opened.name} has no pairs to evaluate on", *opened.left_out.lines())
    for line in opened.left_out.lines():
        show.say(line)
    search = SearchOptions(beam=beam, length_penalty=length_penalty).over(translator.search)
    sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    found = _translate(translator, sources, replace(search, scores=False), show)
    if save:
        # a text that was copied unchanged may contain line ends
        write_atomically(save, "".join(" ".join(text.split("\n")) + "\n" for text in found))
    scores = score(found, references, target, metrics, sources)
    if as_json:
        print(json.dumps({name: value.to_values() for name, value in scores.items()}))
        return
    for name, value in scores.items():
        print(f"{name:5} {METRICS[name].format(value.score):>6}   {value.signature}")


def _translate(translator: Translator, sources: list[str], search: Search, show: Show) -> list[str]:
    """The translations; notes about them are printed at the end."""
    from tongsa.translation.options import TranslateOptions
    from tongsa.translation.stream import Stream, Texts

    found: list[str] = []
    notes: Counter[str] = Counter()
    with show.bar("translating", len(sources), "lines") as bar:
        stream = Stream(translator, TranslateOptions(search=search), Texts.decode)
        for done in stream.translate(Texts(sources)):
            found += [translation.text for translation in done.translations]
            notes.update(note for translation in done.translations for note in translation.notes)
            bar.advance(len(done.translations))
    for note, count in notes.items():
        show.say(f"{count:,} of {len(sources):,} lines: {note}")
    return found
