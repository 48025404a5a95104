"""`tongsa corpus clean`: write the pairs without faults, and a file of the removed pairs with the reasons.

A training with `corpus.clean` reads a `Cleaned` corpus instead, which leaves the same pairs out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tongsa.base.errors import UsageError
from tongsa.base.files import replacing_together
from tongsa.base.progress import Show
from tongsa.corpus.faults import FAULTS, REMOVED
from tongsa.corpus.scan import scan, take_sample
from tongsa.formats.pairs import Corpus, Pair, Tally
from tongsa.formats.writers import text_file, writing


def chosen_faults(only: Sequence[str], keep: Sequence[str], also: Sequence[str]) -> list[str]:
    """The faults to remove; an unknown name is an error."""
    unknown = [name for name in (*only, *keep, *also) if name not in FAULTS]
    if unknown:
        raise UsageError(f"unknown fault: {unknown[0]}", *(f"{name:12} {what}" for name, what in FAULTS.items()))
    return [name for name in FAULTS if name in (only or [*REMOVED, *also]) and name not in keep]


def clean_corpus(
    corpus: Corpus,
    out: Path,
    removed: Path,
    faults: Sequence[str],
    *,
    workers: int | None = None,
    seed: int = 1,
    show: Show,
) -> tuple[Tally, Counter[str]]:
    """Write both files. Return the removed pairs by their first fault, and the changes made while writing."""
    sample = take_sample(corpus, show, seed)
    tally = Tally()
    changed: Counter[str] = Counter()
    with (
        replacing_together(),
        writing(out, corpus.reading, changed) as write,
        text_file(removed) as bin_,
    ):
        for block in scan(corpus, sample, workers=workers, show=show):
            for pair, found in zip(block.pairs, block.faults, strict=True):
                tally.seen += 1
                why = [name for name in faults if name in found]
                if not why:
                    write(pair)
                    continue
                tally.drop(why[0], pair.where)
                entry = {"file": str(pair.where.file), "line": pair.where.line, "why": why}
                texts = {corpus.reading.source: pair.source, corpus.reading.target: pair.target}
                bin_.write(json.dumps({**entry, "translation": texts}, ensure_ascii=False) + "\n")
    return tally, changed


FEWEST = 1000
"""Pairs from which on it can be learnt what a pair of this corpus looks like."""


@dataclass
class Cleaned:
    """A corpus without its faulty pairs. They are found once, and counted with what the readers leave out."""

    corpus: Corpus
    show: Show
    workers: int | None = None
    most: float = float("inf")
    """Pairs up to which there is time to look at all of them; a larger corpus is taken as it is."""
    _faulty: dict[int, str] | None = field(default=None, init=False)
    """The number of each faulty pair, and its first fault."""

    @property
    def name(self) -> str:
        return self.corpus.name

    @property
    def left_out(self) -> Tally:
        return self.corpus.left_out

    def __iter__(self) -> Iterator[Pair]:
        if self._faulty is None:
            self._faulty = self._find()
        for number, pair in enumerate(self.corpus):
            fault = self._faulty.get(number)
            if fault is None:
                yield pair
            else:
                self.left_out.drop(f"where {FAULTS[fault]} ({fault})", pair.where)

    def _find(self) -> dict[int, str]:
        pairs = sum(1 for _ in self.corpus)
        if pairs > self.most:
            self.show.say(f"not cleaned: {pairs:,} pairs would take too much of the time (tongsa corpus clean does it)")
        if not FEWEST <= pairs <= self.most:
            return {}
        sample = take_sample(self.corpus, self.show)
        found = (
            faults
            for block in scan(self.corpus, sample, workers=self.workers, show=self.show)
            for faults in block.faults
        )
        firsts = (next((name for name in REMOVED if name in faults), None) for faults in found)
        return {number: first for number, first in enumerate(firsts) if first}
