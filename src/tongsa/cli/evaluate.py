"""`tongsa evaluate`"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tongsa.base.errors import CorpusError, UsageError
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
    from tongsa.evaluation.stress import StressRow, StressTest
    from tongsa.translation.sentences import Translation
    from tongsa.translation.translator import Translator

STRESS_METRICS = ("bleu", "chrf")


@grouped
def evaluate(
    directory: Directory,
    corpus: Corpora,
    metric: Annotated[
        str, typer.Option("--metric", help="Names of metrics, with commas (by default bleu,chrf,ter).")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as one JSON object.")] = False,
    save: Annotated[
        Path | None,
        typer.Option("--save", help="Write the translations to this file; of several translators, to this directory."),
    ] = None,
    stress: Annotated[
        bool,
        typer.Option("--stress", help="Also translate perturbed sources: by how much scores fall, what breaks."),
    ] = False,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    encoding: Encoding = "utf-8",
    salvage: Salvage = False,
    *,
    engine: EngineOptions,
) -> None:
    """Translate a test corpus and score it against its references (sacrebleu).

    Several translators are compared with the first, by paired bootstrap resampling. A,B is an ensemble of two.

    Examples:  tongsa evaluate runs/en-de data/test --metric bleu,chrf --json

    tongsa evaluate runs/old runs/new runs/old,runs/new data/test
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.evaluation.metrics import METRICS, TRANSLATION_METRICS, score, text_metrics
    from tongsa.evaluation.stress import StressTest
    from tongsa.formats.pairs import Reading, open_corpus

    metrics = [name.strip().lower() for name in metric.split(",") if name.strip()] or list(TRANSLATION_METRICS)
    text_metrics(metrics)  # report an unknown metric before minutes of translating
    directories, corpora = _translators_first([str(directory), *corpus])
    source, target = _languages(directories)
    opened = open_corpus(corpora, Reading(source=source, target=target, encoding=encoding, salvage=salvage))
    pairs = list(opened)
    show = for_this_stream()
    if not pairs:
        raise CorpusError(f"{opened.name} has no pairs to evaluate on", *opened.left_out.lines())
    for line in opened.left_out.lines():
        show.say(line)
    sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    if stress:
        if save:
            raise UsageError("--stress and --save exclude each other", "Save the translations without --stress.")
        wanted = metrics if metric else list(STRESS_METRICS)
        test = StressTest(list(zip(sources, references, strict=True)), source, target, wanted)
        options = SearchOptions(beam=beam, length_penalty=length_penalty)
        print_stress({name: run_stress(test, engine.load(Path(name)), options, show) for name in directories}, as_json)
        return
    systems: dict[str, list[str]] = {}
    searches: dict[str, str] = {}
    for name in directories:
        translator = engine.load(Path(name))
        search = SearchOptions(beam=beam, length_penalty=length_penalty).over(translator.search)
        systems[name] = _translate(translator, sources, replace(search, scores=False), show)
        searches[name] = search.in_words
        if save:
            _save(systems[name], save if len(directories) == 1 else save / f"{_short_name(name)}.{target}")
    if len(systems) > 1:
        _compare(_Compared(systems, searches, sources, references, target, metrics), as_json)
        return
    scores = score(systems[directories[0]], references, target, metrics, sources)
    how = searches[directories[0]]
    if as_json:
        print(json.dumps({name: {**value.to_values(), "search": how} for name, value in scores.items()}))
        return
    for name, value in scores.items():
        print(f"{name:5} {METRICS[name].format(value.score):>6}   {value.signature}")
    print(f"{len(pairs):,} sentences, {how}")


def _translators_first(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Split the arguments: translators come first, and the rest are corpora."""
    from tongsa.runs.names import CARD, ensemble_members

    def is_translator(argument: str) -> bool:
        return all((member / CARD).is_file() for member in ensemble_members(argument))

    count = 1
    while count < len(arguments) - 1 and is_translator(arguments[count]):
        count += 1
    directories = arguments[:count]
    twice = next((name for name in directories if directories.count(name) > 1), None)
    if twice:
        raise UsageError(f"{twice} is named twice")
    return directories, arguments[count:]


def _languages(directories: list[str]) -> tuple[str, str]:
    """Return the languages of the translators, which must be the same."""
    from tongsa.runs.directory import Run
    from tongsa.runs.names import ensemble_members

    found = {}
    for name in directories:
        card = Run(ensemble_members(name)[0]).read_card()
        found[name] = (card.source, card.target)
    if len(set(found.values())) > 1:
        lines = [f"{name}: {source} to {target}" for name, (source, target) in found.items()]
        raise UsageError("translators of different languages cannot be compared", *lines)
    return found[directories[0]]


def _short_name(translator: str) -> str:
    """The name of a translator's file: that of its directory, and of all members of an ensemble."""
    from tongsa.runs.names import ensemble_members

    return "+".join(member.name for member in ensemble_members(translator))


def _save(texts: list[str], path: Path) -> None:
    from tongsa.base.files import make_directory, write_atomically

    make_directory(path.parent)
    # a text that was copied unchanged may contain line ends
    write_atomically(path, "".join(" ".join(text.split("\n")) + "\n" for text in texts))


@dataclass(frozen=True)
class _Compared:
    """Translations of several systems, by name; the first is the baseline."""

    systems: dict[str, list[str]]
    searches: dict[str, str]
    sources: list[str]
    references: list[str]
    language: str
    metrics: list[str]


def _compare(found: _Compared, as_json: bool) -> None:
    from tongsa.evaluation.metrics import METRICS
    from tongsa.evaluation.significance import SAMPLES, SURE, aligned, chance, paired_bootstrap, with_interval

    first = next(iter(found.systems))
    tested = paired_bootstrap(
        found.systems,
        found.references,
        found.language,
        baseline=first,
        metrics=found.metrics,
        sources=found.sources,
    )
    if as_json:
        values = {
            name: {metric: {**asdict(each), "search": found.searches[name]} for metric, each in tested[name].items()}
            for name in found.systems
        }
        print(json.dumps(values))
        return
    head = ["translator", *(cell for name in found.metrics for cell in (METRICS[name].title, "p")), "search"]
    rows = [
        [
            name,
            *(cell for each in tested[name].values() for cell in (with_interval(each), chance(each, "first"))),
            how,
        ]
        for name, how in found.searches.items()
    ]
    print("\n".join(aligned([head, *rows])))
    print(f"\n{len(found.references):,} sentences. ± is the 95% interval; p is from a paired bootstrap of {SAMPLES:,}")
    print(f"samples against {first}, * below {SURE}.")
    for metric, each in tested[first].items():
        print(f"{METRICS[metric].title}: {each.signature}")


def run_stress(test: StressTest, translator: Translator, options: SearchOptions, show: Show) -> list[StressRow]:
    """Put one translator to the test."""
    from tongsa.evaluation.stress import Output

    search = replace(options.over(translator.search), scores=False)

    def translate(sources: Sequence[str]) -> list[Output]:
        return [Output(each.text, each.notes) for each in _translations(translator, list(sources), search, show)]

    return test.run(translate)


def print_stress(found: dict[str, list[StressRow]], as_json: bool) -> None:
    """Print a table for each translator; as JSON, one object."""
    from tongsa.evaluation.metrics import METRICS
    from tongsa.evaluation.stress import as_table, mean_changes

    if as_json:
        values = {
            name: {"rows": [asdict(row) for row in rows], "mean_change": mean_changes(rows)}
            for name, rows in found.items()
        }
        print(json.dumps(values if len(values) > 1 else next(iter(values.values()))))
        return
    for name, rows in found.items():
        if len(found) > 1:
            print(f"{name}")
        print("\n".join(as_table(rows)))
        means = ", ".join(f"{METRICS[metric].title} {change:+.2f}" for metric, change in mean_changes(rows).items())
        print(f"mean change: {means}")


def _translate(translator: Translator, sources: list[str], search: Search, show: Show) -> list[str]:
    """The translations; notes about them are printed at the end."""
    found = _translations(translator, sources, search, show)
    notes = Counter(note for translation in found for note in translation.notes)
    for note, count in notes.items():
        show.say(f"{count:,} of {len(sources):,} lines: {note}")
    return [translation.text for translation in found]


def _translations(translator: Translator, sources: list[str], search: Search, show: Show) -> list[Translation]:
    from tongsa.translation.options import TranslateOptions
    from tongsa.translation.stream import Stream, Texts

    found: list[Translation] = []
    with show.bar("translating", len(sources), "lines") as bar:
        stream = Stream(translator, TranslateOptions(search=search), Texts.decode)
        for done in stream.translate(Texts(sources)):
            found += done.translations
            bar.advance(len(done.translations))
    return found
