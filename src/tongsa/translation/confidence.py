"""Confidence: how far a translation can be trusted, from 0 to 1.

What the model says is the log-probability of a token on average, the end included. What it is worth differs from model
to model, so a translator's card may hold points (log-probability, quality), fitted on the validation set by
`tongsa.evaluation.calibration`; between them the line is straight. Without them confidence is the probability of a
token, e to the power of that average: comparable within a document, no promise beyond it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CUT = 0.8
"""A sentence translated in pieces has lost the context between them; its confidence is multiplied by this."""


@dataclass(frozen=True)
class Calibration:
    """Points (average log-probability, quality), rising in both; none is the default described above."""

    points: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(cls, points: Iterable[tuple[float, float]]) -> Calibration:
        """From a card's points, in whatever order they stand there."""
        return cls(tuple(sorted(points)))

    def __call__(self, average: float) -> float:
        if not self.points:
            return min(1.0, math.exp(min(0.0, average)))
        xs = [x for x, _ in self.points]
        after = bisect_right(xs, average)
        if after in (0, len(xs)):
            return self.points[min(after, len(xs) - 1)][1]
        (x0, y0), (x1, y1) = self.points[after - 1], self.points[after]
        return y0 + (y1 - y0) * (average - x0) / (x1 - x0) if x1 > x0 else y1


def average(log_probabilities: Sequence[float], tokens: Sequence[int]) -> float:
    """Of a token, over several translations; each has an end that counts as one."""
    return sum(log_probabilities) / max(1, sum(n + 1 for n in tokens))
