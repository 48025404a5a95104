"""Gold and silver examples are mixed by a ratio, and none is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tongsa.base.errors import UsageError
from tongsa.data.silver import SilverMix
from tongsa.formats.pairs import Pair, Place


class Examples:
    def __init__(self, name: str, count: int) -> None:
        self.name, self.count = name, count

    def __iter__(self) -> Iterator[Pair]:
        for number in range(self.count):
            yield Pair(f"{self.name}{number}", "x", Place(Path(self.name), number))


@pytest.mark.parametrize(
    ("gold", "silver", "ratio", "repeats"), [(10, 40, 1.0, 4), (10, 40, 4.0, 1), (10, 5, 1.0, 1), (10, 40, 1.6, 2)]
)
def test_gold_is_repeated_until_the_ratio_is_met(gold: int, silver: int, ratio: float, repeats: int) -> None:
    mix = SilverMix.of(Examples("gold", gold), Examples("silver", silver), ratio)
    for _ in range(2):  # it is read again on each iteration
        found = Counter(pair.source for pair in mix)
        assert found == {
            **{f"gold{number}": repeats for number in range(gold)},
            **{f"silver{number}": 1 for number in range(silver)},
        }


@pytest.mark.parametrize("ratio", [0.0, -1.0, float("nan")])
def test_a_ratio_is_above_zero(ratio: float) -> None:
    with pytest.raises(UsageError, match="--silver-ratio must be above 0"):
        SilverMix.of(Examples("gold", 1), Examples("silver", 1), ratio)
