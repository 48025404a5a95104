"""Selection of pairs: filters, the split into training and validation pairs, random samples.

Each filter counts the pairs it left out and keeps the places of the first ones, so that all can be reported.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

from tongsa.config import CorpusSection
from tongsa.formats.pairs import Pair, Tally
from tongsa.text.lines import tidy
from tongsa.text.placeholders import masked

Filter = Callable[[Pair], bool]
"""Returns True if the pair is kept."""

EMPTY = "with an empty side"


def usual_filters(section: CorpusSection) -> dict[str, Filter]:
    """Return the recipe's filters that need no subwords, keyed by a description of the pairs they leave out."""
    filters: dict[str, Filter] = {
        EMPTY: has_text,
        "with a line of absurd length": shorter_than(40 * section.max_tokens),
    }
    if section.deduplicate:
        filters["seen before (corpus.deduplicate)"] = not_seen_before()
    return filters


def clean(pairs: Iterable[Pair], filters: dict[str, Filter], tally: Tally) -> Iterator[Pair]:
    """Yield the pairs that pass every filter; others are counted under the first filter that rejects them."""
    for pair in pairs:
        tally.seen += 1
        if reason := first_reason(pair, filters):
            tally.drop(reason, pair.where)
        else:
            yield pair


def first_reason(pair: Pair, filters: dict[str, Filter]) -> str | None:
    """Return the reason why a pair is left out, or None if it is kept."""
    for name, stays in filters.items():
        if not stays(pair):
            return name
    return None


def has_text(pair: Pair) -> bool:
    """Keep pairs whose two sides still have text after tidying."""
    return bool(tidy(pair.source) and tidy(pair.target))


def shorter_than(characters: int) -> Filter:
    """Keep extremely long lines away from the subword model; the exact limit, in subwords, is applied later."""
    return lambda pair: len(pair.source) <= characters and len(pair.target) <= characters


def not_seen_before() -> Filter:
    """Keep the first of equal pairs; stores an eight-byte hash per pair."""
    seen: set[bytes] = set()

    def stays(pair: Pair) -> bool:
        key = blake2b(f"{pair.source}\t{pair.target}".encode(), digest_size=8).digest()
        if key in seen:
            return False
        seen.add(key)
        return True

    return stays


def mask(pair: Pair) -> Pair:
    """Replace placeholders by `{1}`, `{2}`, ... on both sides of about half of the pairs that have the same on both.

    The model learns from these to carry any placeholder: documents are translated with the same replacements if the
    model loses one that it has not seen. From the other half it learns to carry those of the corpus as they are.
    """
    both = masked(pair.source, pair.target)
    if not both or blake2b(pair.source.encode(), digest_size=1).digest()[0] % 2:
        return pair
    return Pair(*both, pair.where)


class SmallestDigests:
    """Finds the smallest of many digests; stores only a few times as many as wanted."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._found: set[bytes] = set()
        self._limit = b"\xff" * 9  # above every digest of eight bytes

    def add(self, digest: bytes) -> None:
        if digest < self._limit:
            self._found.add(digest)
            if len(self._found) > 2 * self.count + 1000:
                self._found = set(heapq.nsmallest(self.count, self._found))
                self._limit = max(self._found, default=b"")

    def threshold(self, count: int) -> int:
        """Return a number that exactly `count` of the digests are below, or all of them if there are fewer."""
        chosen = heapq.nsmallest(min(count, self.count), self._found)
        return int.from_bytes(chosen[-1], "big") + 1 if chosen else 0


@dataclass(frozen=True)
class Split:
    """Decides by the source text which pairs are held out, so that no sentence is in both parts."""

    seed: int
    threshold: int = 0
    """Sources with a digest below this are held out."""

    @classmethod
    def holding_out(cls, count: int, pairs: Iterable[Pair], seed: int) -> Split:
        """Return the split that holds out exactly `count` source sentences, however many pairs those have."""
        smallest, split = SmallestDigests(count), cls(seed)
        for pair in pairs:
            smallest.add(split.digest(pair.source))
        return cls(seed, smallest.threshold(count))

    def holds_out(self, pair: Pair) -> bool:
        return int.from_bytes(self.digest(pair.source), "big") < self.threshold

    def digest(self, source: str) -> bytes:
        """Hash a source to eight bytes, big-endian."""
        return blake2b(source.encode(), digest_size=8, key=str(self.seed).encode()).digest()


def reservoir(pairs: Iterable[Pair], count: int, seed: int) -> list[Pair]:
    """Sample at most `count` pairs uniformly, in the order of the corpus."""
    draw = random.Random(seed)
    kept: list[tuple[int, Pair]] = []
    for number, pair in enumerate(pairs):
        if number < count:
            kept.append((number, pair))
        elif (place := draw.randrange(number + 1)) < count:
            kept[place] = (number, pair)
    return [pair for _, pair in sorted(kept, key=lambda each: each[0])]
