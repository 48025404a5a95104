"""Confidence of a translation, from 0 to 1.

The model gives the average log-probability of a token, including the end. Its meaning differs between models, so a
translator's card may hold points (log-probability, quality), fitted on the validation set by
`tongsa.evaluation.calibration` and interpolated linearly. Without points, confidence is e to the power of that average,
the probability of a token: comparable within a document, but not calibrated.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CUT = 0.8
"""Factor for the confidence of a sentence translated in pieces, which lack each other's context."""

WORD_START = "▁"
_WORDS = re.compile(r"\s+|\S+")


@dataclass(frozen=True)
class Calibration:
    """Points (average log-probability, quality), increasing in both; empty for the uncalibrated default."""

    points: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(cls, points: Iterable[tuple[float, float]]) -> Calibration:
        """Build from a card's points, in any order."""
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
    """Return the average log-probability per token over several translations, each including its end."""
    return sum(log_probabilities) / max(1, sum(n + 1 for n in tokens))


def weighted_mean(confidences: Iterable[tuple[float, int]], empty: float = 0.0) -> float:
    """Combine the (confidence, length) of the parts of a text; `empty` if there are no parts."""
    parts = list(confidences)
    whole = sum(length for _, length in parts)
    return sum(confidence * length for confidence, length in parts) / whole if whole else empty


@dataclass(frozen=True)
class Word:
    """A word of a translation, or the white space between two; joined, they give the text."""

    text: str
    confidence: float | None
    """None for white space and untranslated text."""


def word_confidences(text: str, tokens: Sequence[str], log_probabilities: Sequence[float]) -> list[Word]:
    """Give each word the probability of its least likely token.

    `log_probabilities` are those of the tokens and of the end.
    """
    groups: list[float] = []
    for token, log_probability in zip(tokens, log_probabilities, strict=False):
        if token.startswith(WORD_START) or not groups:
            groups.append(log_probability)
        else:
            groups[-1] = min(groups[-1], log_probability)
    if len(groups) != len(text.split()):  # tokens do not begin where words do
        groups = [sum(log_probabilities) / max(1, len(log_probabilities))] * len(text.split())
    probabilities = iter(groups)
    return [
        Word(word, None if word.isspace() else round(math.exp(min(0.0, next(probabilities))), 3))
        for word in _WORDS.findall(text)
    ]


def same_for_all_words(text: str, confidence: float | None) -> list[Word]:
    """Give every word the confidence of the whole text, if nothing more is known."""
    return [Word(word, None if word.isspace() else confidence) for word in _WORDS.findall(text)]
