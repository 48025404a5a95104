"""Which pairs are used, and for what: filters, the split that holds out pairs for validation, samples.

Each filter counts what it left out and keeps the first places: nothing vanishes unsaid.
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
"""True where the pair may stay."""

EMPTY = "with an empty side"


def usual_filters(section: CorpusSection) -> dict[str, Filter]:
    """The filters of a recipe that need no subwords, by what they leave out."""
    filters: dict[str, Filter] = {
        EMPTY: has_text,
        "with a line of absurd length": shorter_than(40 * section.max_tokens),
    }
    if section.deduplicate:
        filters["seen before (corpus.deduplicate)"] = not_seen_before()
    return filters


def clean(pairs: Iterable[Pair], filters: dict[str, Filter], tally: Tally) -> Iterator[Pair]:
    """The pairs that every filter lets through; the first filter that does not is the one that counts."""
    for pair in pairs:
        tally.seen += 1
        if reason := first_reason(pair, filters):
            tally.drop(reason, pair.where)
        else:
            yield pair


def first_reason(pair: Pair, filters: dict[str, Filter]) -> str | None:
    """Why a pair is left out, if it is."""
    for name, stays in filters.items():
        if not stays(pair):
            return name
    return None


def has_text(pair: Pair) -> bool:
    """Text for the model, that is: a line may hold nothing but what tidying takes out."""
    return bool(tidy(pair.source) and tidy(pair.target))


def shorter_than(characters: int) -> Filter:
    """Keeps absurd lines away from the subword model; the exact limit is in subwords, after it."""
    return lambda pair: len(pair.source) <= characters and len(pair.target) <= characters


def not_seen_before() -> Filter:
    """Remembers eight bytes of each pair."""
    seen: set[bytes] = set()

    def stays(pair: Pair) -> bool:
        key = blake2b(f"{pair.source}\t{pair.target}".encode(), digest_size=8).digest()
        if key in seen:
            return False
        seen.add(key)
        return True

    return stays


def mask(pair: Pair) -> Pair:
    """Placeholders become `{1}`, `{2}`, ... on both sides, so that a model learns to carry them.

    Documents are translated with the same stand-ins, so a model trained so keeps its sentences whole where others must
    be cut into pieces around each placeholder.
    """
    both = masked(pair.source, pair.target)
    return Pair(*both, pair.where) if both else pair


class SmallestDigests:
    """The smallest of many digests, with memory for a few times as many as are wanted."""

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
        """A number that exactly `count` of the digests lie below, or all where there are fewer."""
        chosen = heapq.nsmallest(min(count, self.count), self._found)
        return int.from_bytes(chosen[-1], "big") + 1 if chosen else 0


@dataclass(frozen=True)
class Split:
    """Which pairs are held out: decided by the source text, so that no sentence stands on both sides."""

    seed: int
    threshold: int = 0
    """Held out is what has a digest below this one."""

    @classmethod
    def holding_out(cls, count: int, pairs: Iterable[Pair], seed: int) -> Split:
        """The split that holds out exactly `count` source sentences, whatever the number of pairs."""
        smallest, split = SmallestDigests(count), cls(seed)
        for pair in pairs:
            smallest.add(split.digest(pair.source))
        return cls(seed, smallest.threshold(count))

    def holds_out(self, pair: Pair) -> bool:
        return int.from_bytes(self.digest(pair.source), "big") < self.threshold

    def digest(self, source: str) -> bytes:
        """Eight bytes, the first the most significant."""
        return blake2b(source.encode(), digest_size=8, key=str(self.seed).encode()).digest()


def reservoir(pairs: Iterable[Pair], count: int, seed: int) -> list[Pair]:
    """At most `count` pairs, each with the same chance, in the order of the corpus."""
    draw = random.Random(seed)
    kept: list[tuple[int, Pair]] = []
    for number, pair in enumerate(pairs):
        if number < count:
            kept.append((number, pair))
        elif (place := draw.randrange(number + 1)) < count:
            kept[place] = (number, pair)
    return [pair for _, pair in sorted(kept, key=lambda each: each[0])]
