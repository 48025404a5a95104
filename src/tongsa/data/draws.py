"""Drawing pairs at random from a corpus that is read once."""

from __future__ import annotations

import random
from collections.abc import Iterable

from tongsa.formats.pairs import Pair


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
