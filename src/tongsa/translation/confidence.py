"""Confidence of a translation, from 0 to 1: the quality (chrF / 100) to expect of it.

    confidence = 1 / (1 + e^-(bias + a * average + f * familiarity))

`average` is the mean log-probability of a token of the translation, including the end. `familiarity` tells how much the
source is like the training text (`tongsa.text.frequencies`). The three numbers bias, a and f are on the translator's
card; `tongsa.evaluation.calibration` fits them. a is above 0 and f not below 0, so that a translation that the model
finds likelier, or whose source is more familiar, is never less certain.

Cards of earlier versions have points (average, quality) instead, which are interpolated. A card with neither gives e to
the power of the average, the probability of a token: comparable within a document, but not calibrated.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tongsa.runs.card import Card, ConfidenceWeights
from tongsa.text.frequencies import PieceFrequencies

CUT = 0.8
"""Factor for the confidence of a sentence translated in pieces, which lack each other's context."""

MOST = 500.0
"""Largest exponent: e^500 is still a number."""

WORD_START = "▁"
_WORDS = re.compile(r"\s+|\S+")

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Calibration:
    """From the model's log-probability and the source to a confidence."""

    weights: ConfidenceWeights | None = None
    frequencies: PieceFrequencies | None = None
    """Of the pieces of the source; None if they are unknown."""
    points: Points = ()
    """(average log-probability, quality), sorted; from the card of an earlier version."""

    @classmethod
    def of(cls, card: Card, frequencies: PieceFrequencies | None) -> Calibration:
        return cls(card.calibration, frequencies, tuple(sorted(card.confidence)))

    def __call__(self, average: float, source: Sequence[int] = ()) -> float:
        """Return the confidence, given the average log-probability of a token and the ids of the source."""
        if self.weights:
            familiarity = self.frequencies.familiarity(source) if self.frequencies else 0.0
            return logistic(self.weights.bias + self.weights.average * average + self.weights.familiarity * familiarity)
        if self.points:
            return interpolated(self.points, average)
        return math.exp(min(0.0, average))


def logistic(log_odds: float) -> float:
    return 1 / (1 + math.exp(min(MOST, -log_odds)))


def interpolated(points: Points, x: float) -> float:
    """Interpolate between points that increase; beyond the ends, go on at the same slope and bend towards 0 and 1."""
    xs = [each for each, _ in points]
    after = bisect_right(xs, x)
    if 0 < after < len(points):
        (x0, y0), (x1, y1) = points[after - 1], points[after]
        return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    (x0, y0), (x1, y1) = points[0], points[-1]
    steepness = max((y1 - y0) / (x1 - x0) if x1 > x0 else 0.0, 0.1)
    if after == 0:
        return y0 * math.exp(max(-MOST, steepness * (x - x0) / max(y0, 0.01)))
    return 1 - (1 - y1) * math.exp(max(-MOST, -steepness * (x - x1) / max(1 - y1, 0.01)))


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
    written: list[str] = []
    for token, log_probability in zip(tokens, log_probabilities, strict=False):
        if token.startswith(WORD_START) or not groups:
            groups.append(log_probability)
            written.append(token.removeprefix(WORD_START))
        else:
            groups[-1] = min(groups[-1], log_probability)
            written[-1] += token
    found = _matched(text.split(), written, groups)
    if found is None:  # tokens do not begin where words do
        found = [sum(log_probabilities) / max(1, len(log_probabilities))] * len(text.split())
    probabilities = [None if each is None else round(math.exp(min(0.0, each)), 3) for each in found]
    rest = iter(probabilities)
    return [Word(word, None if word.isspace() else next(rest)) for word in _WORDS.findall(text)]


def _matched(words: Sequence[str], written: Sequence[str], groups: Sequence[float]) -> Sequence[float | None] | None:
    """The log-probability of each word, None for words that were carried over; None if the model wrote other words."""
    if len(words) == len(written):
        return groups
    found: list[float | None] = []
    for word in words:
        at = len(found) - found.count(None)
        same = at < len(written) and _letters(word) == _letters(written[at])
        found.append(groups[at] if same else None)
    return found if len(found) - found.count(None) == len(written) else None


def _letters(word: str) -> str:
    """Letters and digits alone, whatever their case: symbols may have been put beside them. All, if it has none."""
    return "".join(c for c in word.casefold() if c.isalnum()) or word


def same_for_all_words(text: str, confidence: float | None) -> list[Word]:
    """Give every word the confidence of the whole text, if nothing more is known."""
    return [Word(word, None if word.isspace() else confidence) for word in _WORDS.findall(text)]
