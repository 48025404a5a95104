"""How much a pair differs from what is usual in its corpus.

Logistic regression answers two questions: are the two texts translations of each other, and is one of them truncated?
It is learnt from the corpus itself (`pair_learning.py`), without knowledge of the languages.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tongsa.corpus.association import Association
from tongsa.corpus.logistic import Logistic
from tongsa.corpus.words import numbers, stems

_FINAL = re.compile(r"[.!?:;…。！？]['\"”’»«)\]›“]*\s*$")
_LAST = re.compile(r"(?<![^\W_])[^\W_]++(?=[\W_]*+$)")
SUFFIX = 4
"""Number of characters at the end of a text that show whether it is complete."""


@dataclass(frozen=True)
class Side:
    """The features of one text."""

    text: str
    words: list[str]
    length: int
    ends: bool
    """Whether the text ends in a final punctuation mark."""
    numbers: list[str]
    last: str
    """The last word of the text, in its original spelling."""


def side(text: str) -> Side:
    last = _LAST.search(text, max(0, len(text) - 60))
    return Side(text, stems(text), len(text), bool(_FINAL.search(text)), numbers(text), last.group() if last else "")


@dataclass(frozen=True)
class LanguageOdds:
    """Log odds of each word to be on the source side of the corpus rather than on the target side."""

    odds: dict[str, float]

    def lean(self, words: Sequence[str]) -> float:
        """Above 0 for text of the source language, below for the target's; per word, bounded."""
        known = [self.odds[word] for word in words if word in self.odds]
        return sum(known) / (len(known) + 0.5)


@dataclass(frozen=True)
class SideStatistics:
    """Statistics of one side of the corpus."""

    ends: dict[str, float]
    """Log odds that a text with this ending is complete; the longest known ending counts."""
    forms: frozenset[str]
    """Known words, as they are written."""
    met: dict[str, float]
    """How often each word has a partner on the other side."""
    usually: float
    """How often an unknown word has a partner on the other side."""

    def ending(self, text: str) -> float:
        for length in range(SUFFIX, 0, -1):
            if (found := self.ends.get(text[-length:])) is not None:
                return found
        return 0.0

    def strange(self, each: Side) -> float:
        """Whether the last word occurs nowhere else in the corpus, as a truncated word would not."""
        return float(bool(each.last) and not each.last.isdigit() and each.last.lower() not in self.forms)

    def missed(self, words: Sequence[str], paired: Sequence[bool], share: float) -> list[float]:
        """For each word, log odds that only `share` of the partners are present, given whether this word has one."""
        found = []
        for word, met in zip(words, paired, strict=True):
            rate = self.met.get(word, self.usually)
            found.append(math.log(share) if met else math.log((1 - rate * share) / (1 - rate)))
        return found


@dataclass(frozen=True)
class PairModel:
    association: Association
    languages: LanguageOdds
    ratio: float
    """Mean of log(target length / source length)."""
    spread: float
    statistics: tuple[SideStatistics, SideStatistics]
    aligned: Logistic
    unrelated: float
    """Log odds against being translations of each other above which two texts count as unrelated."""
    cut: tuple[Logistic, Logistic]
    """Detectors of a truncated source, and of a truncated target."""
    surely: tuple[float, float]
    """Log odds above which a source, and a target, counts as truncated."""

    def measure(self, source: Side, target: Side) -> tuple[list[float], list[float]]:
        """The features of both questions; those of the second are the target's (is it truncated?) and the source's."""
        left, right, *paired = self.association.evidence(source.words, target.words)
        z = self.stretch(source, target)
        sides = list(zip(self.statistics, (source, target), paired, strict=True))
        half = [statistics.missed(each.words, met, HALF) for statistics, each, met in sides]
        aligned = [_mean(left), _mean(right), abs(z), math.log(2 + min(len(left), len(right)))]
        aligned += [_numbers_agree(source, target), _total(left), _total(right)]
        of_target = self._cut(source, half[0], self.statistics[1], target, right, z)
        return aligned, of_target + self._cut(target, half[1], self.statistics[0], source, left, -z)

    def stretch(self, source: Side, target: Side) -> float:
        """By how many standard deviations the target is longer than expected for the source; short texts vary more."""
        log_ratio = math.log((target.length + 1) / (source.length + 1)) - self.ratio
        return log_ratio / (self.spread + 1.5 / math.sqrt(source.length + target.length + 1))

    def _cut(
        self, whole: Side, missed: list[float], statistics: SideStatistics, part: Side, its: list[float], z: float
    ) -> list[float]:
        """Features of a truncated `part`: shorter, no final mark, odd last word, end of the other text unmatched."""
        middle = max(1, (len(missed) * 2) // 5)
        return [
            z,
            float(whole.ends) - float(part.ends),
            float(part.ends),
            statistics.ending(part.text),
            statistics.strange(part),
            _bounded(missed[:middle]),
            _bounded(missed[middle:]),
            _mean(its),
            math.log(2 + len(missed)),
        ]


UNRELATED = (3.0, 4.0, 5.0, 6.0)
"""Candidate thresholds: log odds against being translations of each other above which two texts are unrelated."""
CUT = (3.25, 3.75, 4.25, 4.75)
"""Candidate thresholds, in log odds, above which a sentence counts as truncated."""
HALF = 0.5
"""Fraction of the words with a partner that still have one when the translation is truncated."""
ALIGNED_FEATURES = 7
CUT_FEATURES = 9


def _mean(evidence: Sequence[float]) -> float:
    known = [value for value in evidence if value >= 0]
    return sum(known) / (len(known) + 0.5)


def _total(evidence: Sequence[float]) -> float:
    return math.sqrt(sum(value for value in evidence if value > 0))


def _bounded(odds: Sequence[float]) -> float:
    """The sum of the words' log odds, damped: words are not independent, so many are worth less than their sum."""
    total = sum(odds)
    return math.copysign(math.sqrt(abs(total)), total)


def shared_words(aligned: Sequence[float]) -> float:
    """How much the words of two texts translate each other, given the features of the first question."""
    return aligned[-2] + aligned[-1]


def _numbers_agree(source: Side, target: Side) -> float:
    if not source.numbers and not target.numbers:
        return 0.0
    both = Counter(source.numbers) & Counter(target.numbers)
    return 2 * both.total() / (len(source.numbers) + len(target.numbers)) - 0.5


def undecided(features: int, log_odds: float) -> Logistic:
    """A model that gives every pair the same log odds: for a corpus that is too small to learn from."""
    weights = np.zeros(1 + features + features * (features + 1) // 2)
    weights[0] = log_odds
    return Logistic(np.zeros(features), np.ones(features), weights)
