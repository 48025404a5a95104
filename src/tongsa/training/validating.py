"""How much of a budget in minutes goes into validations: at most 3%, and the first ones get least.

A training that averages its best checkpoints needs their scores: its validations may take 15%.

A training has twenty points at which it may validate. At each of them it has earned that share of the time used so far,
less what earlier validations took. If that pays for the cheap scores (the loss), they are computed. If it also pays for
the rest (translations), and the loss promises that translations are worth it, the rest follows. A validation that was
dear therefore makes the gap to the next one longer. At the end a loss that takes less than a second is always computed.

Budgets in updates have twenty full validations, whatever they cost, so that the same seed gives the same checkpoints.
"""

from __future__ import annotations

from dataclasses import dataclass

SHARE = 0.03
"""Largest fraction of a budget in minutes that validations take."""

SHARE_TO_SELECT = 0.15
"""The same, if checkpoints are selected by their scores; one without a score is not selected."""

FORWARD = 1 / 3
"""Time of computing a loss, in that of training on the same tokens."""

SHORT = 1.0
"""Seconds that the cheap scores may always take at the end."""

REST = 4.0
"""Time of the rest of a validation in that of its loss, until it has been measured."""


@dataclass
class ValidationTime:
    """The time that validations may take, and what is known of their cost. All times are in seconds."""

    budget: float
    share: float = SHARE
    quick: float | None = None
    """Time that the cheap scores took last."""
    rest: float | None = None
    """Time that the other scores took last."""

    def affords_quick(self, spent: float, fraction: float, *, tokens: int, speed: float) -> bool:
        """Whether the cheap scores can be paid, given validation `tokens` and a training `speed` in tokens/s."""
        cost = self.quick if self.quick is not None else FORWARD * tokens / max(speed, 1e-9)
        return spent + cost <= self.share * self.budget * fraction or (fraction >= 1 and cost <= SHORT)

    def affords_rest(self, spent: float, fraction: float) -> bool:
        """Whether the other scores can be paid as well; `spent` includes the cheap ones."""
        assert self.quick is not None, "the cheap scores come first"
        cost = self.rest if self.rest is not None else REST * self.quick
        return spent + cost <= self.share * self.budget * fraction
