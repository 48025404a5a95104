"""Scan a corpus with all cores: once to draw a sample and learn from it, once to examine every pair.

Workers get blocks of consecutive pairs with a few pairs around them, since a shift is visible only beside its
neighbours. Only a few blocks are in flight at a time, so memory does not grow with the corpus.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
import types
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice

import numpy as np

from tongsa.base.errors import CorpusError
from tongsa.base.progress import Show
from tongsa.corpus.duplicates import SeenTexts, hashes
from tongsa.corpus.faults import Expected, find_faults, texts
from tongsa.corpus.pair_learning import learn_pair_model
from tongsa.corpus.pair_model import PairModel
from tongsa.formats.pairs import Corpus, Pair
from tongsa.text.detection import detect
from tongsa.text.lines import tidy
from tongsa.text.scripts import script, usual_script

BLOCK = 1000
AROUND = 8
"""Number of pairs before and after a block that its worker also sees."""
RUN = 25
"""The sample is drawn in runs of this many consecutive pairs."""
SAMPLE = 16_000
DETECTED = 1000
"""Number of lines on each side whose language is detected."""


@dataclass(frozen=True)
class Sample:
    """The result of the first pass."""

    pairs: int
    model: PairModel
    expected: Expected
    languages: tuple[Counter[str], Counter[str]]
    """Languages detected on each side, in a sample."""


@dataclass
class Scanned:
    """A block of pairs with the faults found in it."""

    pairs: list[Pair]
    faults: list[list[str]]
    words: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    scripts: tuple[Counter[str], Counter[str]] = field(default_factory=lambda: (Counter(), Counter()))
    hashes: tuple[np.ndarray, ...] = ()
    """Hashes of the pairs, of the sources and of the targets."""


def take_sample(corpus: Corpus, show: Show, seed: int = 1) -> Sample:
    draw = random.Random(seed)
    runs: list[tuple[int, list[tuple[str, str]]]] = []
    pairs = 0
    with show.bar("reading", None, "pairs") as bar:
        for number, run in enumerate(_blocks(corpus, RUN)):
            pairs += len(run)
            bar.advance(len(run))
            place = number if number < SAMPLE // RUN else draw.randrange(number + 1)
            if place < SAMPLE // RUN:
                runs[place : place + 1] = [(number, [(tidy(pair.source), tidy(pair.target)) for pair in run])]
    if not pairs:
        raise CorpusError(f"{corpus.name} has no pairs", *corpus.left_out.lines())
    runs.sort()
    drawn = [both for _, run in runs for both in run]
    show.say(f"learning what a pair looks like from {len(drawn):,} of {pairs:,} pairs")
    some = draw.sample(drawn, min(DETECTED, len(drawn)))
    languages = (Counter(detect(text[0])[0] for text in some), Counter(detect(text[1])[0] for text in some))
    scripts = (usual_script([text[0] for text in some]), usual_script([text[1] for text in some]))
    expected = Expected(corpus.reading.source, corpus.reading.target, scripts)
    return Sample(pairs, learn_pair_model(drawn, seed), expected, languages)


def scan(corpus: Corpus, sample: Sample, *, workers: int | None = None, show: Show) -> Iterator[Scanned]:
    """Every pair, in order, with its faults. Duplicates are found here, since this process sees all blocks."""
    seen = SeenTexts()
    workers = workers or _cores()
    with show.bar("scanning", sample.pairs, "pairs") as bar:
        for block in _scanned(_with_neighbours(corpus), sample, 1 if sample.pairs < 4 * BLOCK else workers):
            for place in np.flatnonzero(seen.add(block.hashes[0])).tolist():
                block.faults[place].append("duplicate")
            bar.advance(len(block.pairs))
            yield block


def _scanned(
    blocks: Iterable[tuple[list[Pair], list[Pair], list[Pair]]], sample: Sample, workers: int
) -> Iterator[Scanned]:
    if workers == 1:
        for block in blocks:
            yield scan_block(*block, sample.model, sample.expected)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _begin, (sample.model, sample.expected)) as pool:
        under_way: deque[Future[Scanned]] = deque()
        for block in blocks:
            with _hidden_main():
                under_way.append(pool.submit(_work, block))
            if len(under_way) > 2 * workers:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()


@contextmanager
def _hidden_main() -> Iterator[None]:
    """Workers that start meanwhile do not import the user's script: unguarded, it would begin again in each of them."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


_mine: list[tuple[PairModel, Expected]] = []


def _begin(model: PairModel, expected: Expected) -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    _mine[:] = [(model, expected)]


def _work(block: tuple[list[Pair], list[Pair], list[Pair]]) -> Scanned:
    return scan_block(*block, *_mine[0])


def scan_block(
    before: list[Pair], pairs: list[Pair], after: list[Pair], model: PairModel, expected: Expected
) -> Scanned:
    block = [texts(pair) for pair in chain(before, pairs, after)]
    mine = block[len(before) : len(before) + len(pairs)]
    faults = find_faults(block, model, expected)[len(before) : len(before) + len(pairs)]
    sides = [text.source for text in mine], [text.target for text in mine]
    return Scanned(
        pairs,
        faults,
        words=([_words(text) for text in sides[0]], [_words(text) for text in sides[1]]),
        scripts=(Counter(map(script, sides[0])), Counter(map(script, sides[1]))),
        hashes=tuple(hashes(part) for part in ([f"{each.source}\t{each.target}" for each in mine], *sides)),
    )


def _words(text: str) -> int:
    """Number of words between blanks; in text with almost no blanks, every two characters count as one word."""
    words = len(text.split())
    return words if len(text) < 20 * words else len(text) // 2


def _with_neighbours(corpus: Iterable[Pair]) -> Iterator[tuple[list[Pair], list[Pair], list[Pair]]]:
    blocks = _blocks(corpus, BLOCK)
    before: list[Pair] = []
    now = next(blocks, None)
    while now:
        after = next(blocks, [])
        yield before, now, after[:AROUND]
        before, now = now[-AROUND:], after


def _blocks(pairs: Iterable[Pair], size: int) -> Iterator[list[Pair]]:
    rest = iter(pairs)
    while block := list(islice(rest, size)):
        yield block


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
