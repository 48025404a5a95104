"""Faults planted into pairs whose truth is known."""

from __future__ import annotations

import random
from collections.abc import Sequence

FAULTS = ("shifted", "swapped", "mojibake", "copy", "cut")


def plant(
    pairs: Sequence[tuple[str, str]], share: float = 0.01, seed: int = 7
) -> tuple[list[tuple[str, str]], dict[str, set[int]]]:
    """The pairs with `share` of them damaged in each of five ways, and the places of each."""
    draw = random.Random(seed)
    damaged = list(pairs)
    count = max(1, int(share * len(pairs)))
    truth: dict[str, set[int]] = {name: set() for name in FAULTS}
    taken = _shift(damaged, truth["shifted"], count, draw)
    for name in FAULTS[1:]:
        while len(truth[name]) < count:
            place = draw.randrange(len(pairs))
            source, target = damaged[place]
            changed = _CHANGES[name](source, target, draw)
            if place not in taken and changed:
                damaged[place] = changed
                truth[name].add(place)
                taken.add(place)
    return damaged, truth


def _shift(damaged: list[tuple[str, str]], places: set[int], count: int, draw: random.Random) -> set[int]:
    """Regions of eight to forty lines whose targets slipped down by one."""
    while len(places) < count:
        length = min(draw.randint(8, 40), max(8, count - len(places)))
        first = draw.randrange(len(damaged) - length)
        region = range(first, first + length)
        if places.isdisjoint(range(first - 2, first + length + 2)):
            targets = [damaged[place][1] for place in region]
            for place, target in zip(region, targets[-1:] + targets[:-1], strict=True):
                damaged[place] = (damaged[place][0], target)
            places.update(region)
    return set(places)


def _swapped(source: str, target: str, draw: random.Random) -> tuple[str, str] | None:
    return target, source


def _mojibake(source: str, target: str, draw: random.Random) -> tuple[str, str] | None:
    broken = target.encode().decode("latin-1")
    return (source, broken) if broken != target else None


def _copy(source: str, target: str, draw: random.Random) -> tuple[str, str] | None:
    return source, source


def _cut(source: str, target: str, draw: random.Random) -> tuple[str, str] | None:
    words = target.split()
    if len(words) < 5:
        return None
    return source, " ".join(words[: max(2, int(len(words) * draw.uniform(0.3, 0.6)))])


_CHANGES = {"swapped": _swapped, "mojibake": _mojibake, "copy": _copy, "cut": _cut}
