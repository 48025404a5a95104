"""Detect texts that occurred before, with eight bytes of memory per text.

Hashes are kept in sorted arrays of growing sizes; two arrays of about the same size are merged. Adding and looking up
cost O(log n) each, and a hundred million pairs take 0.8 GB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice

import numpy as np

from tongsa.base.errors import UsageError
from tongsa.formats.pairs import Pair
from tongsa.text.lines import tidy

BLOCK = 2000
"""Number of pairs hashed at a time."""


class SeenTexts:
    """Hashes of all texts added so far."""

    def __init__(self) -> None:
        self._levels: list[np.ndarray] = []

    def __len__(self) -> int:
        return sum(map(len, self._levels))

    def add(self, hashes: np.ndarray) -> np.ndarray:
        """Add hashes; return True for each that occurred before, in an earlier block or earlier in this one."""
        fresh, first = np.unique(hashes, return_index=True)
        before = np.ones(len(hashes), bool)
        before[first] = False
        for level in self._levels:
            place = np.minimum(np.searchsorted(level, hashes), len(level) - 1)
            before |= level[place] == hashes
        fresh = np.unique(hashes[~before])
        while self._levels and len(self._levels[-1]) <= 2 * len(fresh):
            fresh = np.sort(np.concatenate([self._levels.pop(), fresh]))
        if len(fresh):
            self._levels.append(fresh)
        return before


def hashes(texts: Sequence[str]) -> np.ndarray:
    """An eight-byte hash of each text."""
    return np.frombuffer(b"".join(blake2b(text.encode(), digest_size=8).digest() for text in texts), np.uint64)


KEYS: dict[str, Callable[[Pair], str]] = {
    "pair": lambda pair: f"{tidy(pair.source)}\t{tidy(pair.target)}",
    "source": lambda pair: tidy(pair.source),
    "target": lambda pair: tidy(pair.target),
}


def deduplicated(pairs: Iterable[Pair], by: str = "pair") -> Iterator[tuple[Pair, bool]]:
    """Each pair, and whether its text (or the text of one side) occurred before."""
    if by not in KEYS:
        raise UsageError(f"unknown value of --by: {by}", f"One of: {', '.join(KEYS)}")
    seen = SeenTexts()
    rest = iter(pairs)
    while block := list(islice(rest, BLOCK)):
        before = seen.add(hashes([KEYS[by](pair) for pair in block]))
        yield from zip(block, before.tolist(), strict=True)
