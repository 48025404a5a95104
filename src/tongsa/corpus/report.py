"""`tongsa corpus report`: the contents and the faults of a corpus, as text. The HTML page is in pages/corpus.py."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tongsa.base.progress import Show
from tongsa.corpus.duplicates import SeenTexts
from tongsa.corpus.faults import FAULTS
from tongsa.corpus.scan import Scanned, scan, take_sample
from tongsa.formats.pairs import Corpus, Pair, Tally

EXAMPLES = 5
LENGTHS = [1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 130, 200, 1 << 40]
"""Upper bounds of the histogram of lengths, in words."""
RATIOS = [0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.7, 2.0, 2.5, 4.0, float("inf")]
"""Upper bounds of the histogram of length ratios: target characters per source character."""


@dataclass
class SideReport:
    language: str
    words: int = 0
    characters: int = 0
    longest: int = 0
    distinct: int = 0
    lengths: Counter[int] = field(default_factory=Counter)
    scripts: Counter[str] = field(default_factory=Counter)
    detected: Counter[str] = field(default_factory=Counter)


@dataclass
class Report:
    name: str
    source: SideReport
    target: SideReport
    pairs: int = 0
    faulty: int = 0
    """Number of pairs with a fault that `clean` removes by default."""
    ratios: Counter[int] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[Pair]] = field(default_factory=dict)
    left_out: Tally = field(default_factory=Tally)
    """Entries that the readers skipped."""


def make_report(corpus: Corpus, *, workers: int | None = None, seed: int = 1, show: Show) -> Report:
    sample = take_sample(corpus, show, seed)
    report = Report(corpus.name, SideReport(corpus.reading.source), SideReport(corpus.reading.target))
    report.source.detected, report.target.detected = sample.languages
    seen = SeenTexts(), SeenTexts()
    draw = random.Random(seed)
    for block in scan(corpus, sample, workers=workers, show=show):
        _add(report, block, draw)
        for side, known, found in zip((report.source, report.target), seen, block.hashes[1:], strict=True):
            side.distinct += int(np.count_nonzero(~known.add(found)))
    report.left_out = corpus.left_out
    return report


def _add(report: Report, block: Scanned, draw: random.Random) -> None:
    from tongsa.corpus.faults import REMOVED

    report.pairs += len(block.pairs)
    for number, side in enumerate((report.source, report.target)):
        side.words += sum(block.words[number])
        side.characters += sum(len(pair[number]) for pair in block.pairs)
        side.longest = max(side.longest, *block.words[number])
        side.lengths.update(_bucket(words, LENGTHS) for words in block.words[number] if words)
        side.scripts.update(block.scripts[number])
    for pair, faults in zip(block.pairs, block.faults, strict=True):
        if pair.source and pair.target:
            report.ratios[_bucket(len(pair.target) / len(pair.source), RATIOS)] += 1
        report.faulty += any(fault in REMOVED for fault in faults)
        for fault in faults:
            report.faults[fault] += 1
            _keep_example(report.examples.setdefault(fault, []), report.faults[fault], pair, draw)


def _keep_example(examples: list[Pair], count: int, pair: Pair, draw: random.Random) -> None:
    """Keep a uniform random sample of the pairs as examples."""
    if len(examples) < EXAMPLES:
        examples.append(pair)
    elif (place := draw.randrange(count)) < EXAMPLES:
        examples[place] = pair


def _bucket(value: float, ends: list[float] | list[int]) -> int:
    return next(place for place, end in enumerate(ends) if value <= end)


def length_label(place: int) -> str:
    low = LENGTHS[place - 1] + 1 if place else 1
    if place == len(LENGTHS) - 1:
        return f"{low}+"
    return str(low) if low == LENGTHS[place] else f"{low}-{LENGTHS[place]}"


def ratio_label(place: int) -> str:
    return f"{RATIOS[place - 1]:g}+" if place == len(RATIOS) - 1 else f"to {RATIOS[place]:g}"


def share(count: int, total: int) -> str:
    return f"{100 * count / max(1, total):.2f}%"


def as_text(report: Report) -> Iterator[str]:
    """The report, a line at a time."""
    yield f"{report.name}: {report.pairs:,} pairs"
    for side in (report.source, report.target):
        yield (
            f"  {side.language}: {side.words:,} words, {side.characters:,} characters;"
            f" mean {side.words / max(1, report.pairs):.1f} words, longest {side.longest:,};"
            f" {side.distinct:,} distinct texts"
        )
        yield f"      detected (of a sample): {_top(side.detected)}; scripts: {_top(side.scripts)}"
    yield "  words per text"
    for place in sorted(report.source.lengths | report.target.lengths):
        counts = [side.lengths[place] for side in (report.source, report.target)]
        bars = "  ".join(f"{_bar(count, report.pairs):20} {share(count, report.pairs):>7}" for count in counts)
        yield f"    {length_label(place):>8}  {bars}"
    yield f"  {report.target.language} characters per {report.source.language} character"
    for place in sorted(report.ratios):
        count = report.ratios[place]
        yield f"    {ratio_label(place):>8}  {_bar(count, report.pairs):20} {share(count, report.pairs):>7}"
    for line in report.left_out.lines():
        yield f"  {line}"
    yield f"  found in {report.faulty:,} pairs ({share(report.faulty, report.pairs)}), examples drawn at random:"
    if not report.faults:
        yield "    nothing"
    for name in (name for name in FAULTS if report.faults[name]):
        yield f"    {report.faults[name]:,} {name}: {FAULTS[name]} ({share(report.faults[name], report.pairs)})"
        for pair in report.examples[name]:
            yield f"        {pair.where}"
            yield f"          {report.source.language}: {_shown(pair.source)}"
            yield f"          {report.target.language}: {_shown(pair.target)}"


def _top(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {share(count, counts.total())}" for name, count in counts.most_common(4)) or "none"


def _bar(count: int, total: int) -> str:
    return "#" * round(40 * count / max(1, total)) or ("." if count else "")


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 160 else text[:157] + "..."
