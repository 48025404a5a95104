"""Faults planted into pairs whose truth is known."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

FAULTS = ("shifted", "swapped", "mojibake", "copy", "cut")
Both = tuple[str, str]


@dataclass(frozen=True)
class Way:
    """How sentences are cut, and how lines slip."""

    side: Literal["source", "target", "either"] = "target"
    """The one that is cut."""
    inside: bool = False
    """Whether the cut may fall inside of a word."""
    fewest: int = 5
    """Words of a sentence that may be cut."""
    left: tuple[float, float] = (0.3, 0.6)
    """What is left of it."""
    shift: Literal["region", "gap", "line"] = "region"
    """`region`: eight to forty lines slip by one; `gap`: one target is lost and those after it move up, until one is
    doubled; `line`: single lines get the target of the next."""

    def __str__(self) -> str:
        return f"{self.side} cut {'inside of a word' if self.inside else 'after a word'}, {self.shift} shifted"


WAYS = [
    Way(side, inside, shift=shift)
    for (side, inside), shift in zip(
        product(("target", "source"), (False, True)), ("region", "gap", "line", "region"), strict=True
    )
]


def plant(
    pairs: Sequence[Both], share: float = 0.01, seed: int = 7, way: Way | None = None
) -> tuple[list[Both], dict[str, set[int]]]:
    """The pairs with `share` of them damaged in each of five ways, and the places of each."""
    way = way or Way()
    draw = random.Random(seed)
    damaged = list(pairs)
    count = max(1, int(share * len(pairs)))
    truth: dict[str, set[int]] = {name: set() for name in FAULTS}
    taken = _shift(damaged, truth["shifted"], count, draw, way)
    changes: dict[str, Callable[[Both], Both | None]] = {
        "swapped": lambda pair: (pair[1], pair[0]) if pair[0] != pair[1] else None,
        "mojibake": _mojibake,
        "copy": lambda pair: (pair[0], pair[0]) if pair[0] != pair[1] else None,
        "cut": lambda pair: _cut(pair, draw, way),
    }
    for name, change in changes.items():
        while len(truth[name]) < count:
            place = draw.randrange(len(pairs))
            changed = change(damaged[place])
            if place not in taken and changed:
                damaged[place] = changed
                truth[name].add(place)
                taken.add(place)
    return damaged, truth


def _shift(damaged: list[Both], places: set[int], count: int, draw: random.Random, way: Way) -> set[int]:
    """Returns the places that must be let alone from now on."""
    near: set[int] = set()
    while len(places) < count:
        length = 1 if way.shift == "line" else min(draw.randint(8, 40), max(8, count - len(places)))
        first = draw.randrange(len(damaged) - length - 1)
        region = range(first, first + length)
        if not near.isdisjoint(range(first - 2, first + length + 3)):
            continue
        targets = [damaged[place][1] for place in region]
        after = damaged[first + length][1]
        moved = targets[-1:] + targets[:-1] if way.shift == "region" else [*targets[1:], after]
        if moved == targets:
            continue
        for place, target in zip(region, moved, strict=True):
            damaged[place] = (damaged[place][0], target)
        places.update(region)
        near.update(range(first, first + length + 1))
    return near


def _mojibake(pair: Both) -> Both | None:
    broken = pair[1].encode().decode("latin-1")
    return (pair[0], broken) if broken != pair[1] else None


def _cut(pair: Both, draw: random.Random, way: Way) -> Both | None:
    number = {"source": 0, "target": 1}.get(way.side, draw.randrange(2) if way.side == "either" else 1)
    words = pair[number].split()
    if len(words) < way.fewest:
        return None
    if way.inside:
        rest = pair[number][: int(len(pair[number]) * draw.uniform(*way.left))].rstrip()
    else:
        rest = " ".join(words[: max(2, int(len(words) * draw.uniform(*way.left)))])
    return (rest, pair[1]) if number == 0 else (pair[0], rest)
