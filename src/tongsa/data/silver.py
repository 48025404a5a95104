"""Silver examples, which a machine annotated, mixed with gold ones by a ratio (§6.3: the semi-supervised parser)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, repeat

from tongsa.base.errors import UsageError
from tongsa.data.spill import Pairs
from tongsa.formats.pairs import Pair


@dataclass(frozen=True)
class SilverMix:
    """All silver examples once, and all gold ones as often as the ratio asks for."""

    gold: Pairs
    silver: Pairs
    repeats: int
    """How often an epoch has each gold example."""

    @classmethod
    def of(cls, gold: Pairs, silver: Pairs, ratio: float) -> SilverMix:
        """Mix `ratio` silver examples with each gold one. No example is left out: where there are more silver ones,
        gold ones are repeated; where there are fewer, the mix has less silver."""
        if not ratio > 0:
            raise UsageError(f"--silver-ratio must be above 0, not {ratio:g}")
        gold_examples, silver_examples = (sum(1 for _ in pairs) for pairs in (gold, silver))
        return cls(gold, silver, max(1, round(silver_examples / max(1.0, ratio * gold_examples))))

    @property
    def name(self) -> str:
        times = f"{self.repeats:,} times " if self.repeats > 1 else ""
        return f"{times}{self.gold.name} with {self.silver.name}"

    def __iter__(self) -> Iterator[Pair]:
        return chain(chain.from_iterable(repeat(self.gold, self.repeats)), self.silver)
