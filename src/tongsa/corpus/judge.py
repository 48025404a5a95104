"""What a pair of this corpus looks like, learnt from a sample of it, and how far a given pair is from that.

Two questions are answered by logistic regression. Its examples are made from the sample: pairs as they stand, pairs
with the sentence of a neighbour (are these two translations of each other?), and pairs with one side cut short (was
this sentence cut?). Nothing has to be known about the languages, and no corpus has to be labelled.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tongsa.corpus.association import Association, learn
from tongsa.corpus.logistic import Logistic, fit_real
from tongsa.corpus.words import numbers, stems

NEIGHBOURS = 4
"""A wrong partner is drawn from so many lines before or after: shifts go to neighbours, which share their topic."""
LEFT = (0.2, 0.65)
"""What is left of a sentence that was cut."""
_FINAL = re.compile(r"[.!?:;…。！？]['\"”’»«)\]›“]*\s*$")


@dataclass(frozen=True)
class Side:
    """A text, taken apart once."""

    text: str
    words: list[str]
    length: int
    ends: bool
    """Whether it ends in a final mark."""
    numbers: list[str]


def side(text: str) -> Side:
    return Side(text, stems(text), len(text), bool(_FINAL.search(text)), numbers(text))


@dataclass(frozen=True)
class Languages:
    """How much likelier each word is on its own side of the corpus than on the other."""

    odds: dict[str, float]

    def lean(self, words: Sequence[str]) -> float:
        """Above 0 for text of the source language, below for the target's; per word, bounded."""
        known = [self.odds[word] for word in words if word in self.odds]
        return sum(known) / (len(known) + 0.5)

    def known(self, words: Sequence[str]) -> float:
        return sum(word in self.odds for word in words) / max(1, len(words))


@dataclass(frozen=True)
class Judge:
    association: Association
    languages: Languages
    ratio: float
    """Mean of log(target length / source length)."""
    spread: float
    ends: dict[str, float]
    """log odds of each stem to be the last one of a text."""
    aligned: Logistic
    cut: tuple[Logistic, Logistic]
    """For a source, and for a target, that was cut."""

    def measure(self, source: Side, target: Side) -> tuple[list[float], list[float]]:
        """The features of both questions: (aligned), (source cut, target cut) are made of them."""
        left, right = self.association.evidence(source.words, target.words)
        z = self.stretch(source, target)
        aligned = [_mean(left), _mean(right), abs(z), math.log(2 + min(len(left), len(right)))]
        aligned += [_numbers_agree(source, target), _total(left), _total(right)]
        return aligned, self._cut(source, left, target, right, z) + self._cut(target, right, source, left, -z)

    def stretch(self, source: Side, target: Side) -> float:
        """How many standard deviations longer the target is than the source lets expect; short texts vary more."""
        log_ratio = math.log((target.length + 1) / (source.length + 1)) - self.ratio
        return log_ratio / (self.spread + 1.5 / math.sqrt(source.length + target.length + 1))

    def _cut(self, whole: Side, all_: list[float], part: Side, its: list[float], z: float) -> list[float]:
        """Whether `part` breaks off: shorter, no final mark, an odd last word, the end of the other unexplained."""
        middle = max(1, (len(all_) * 3) // 5)
        return [
            z,
            float(whole.ends) - float(part.ends),
            float(part.ends),
            self.ends.get(part.words[-1], 0.0) if part.words else 0.0,
            _mean(all_[:middle]),
            _mean(all_[middle:]),
            _mean(its),
            math.log(2 + len(all_)),
        ]


CUT_FEATURES = 8


def learn_judge(pairs: Sequence[tuple[str, str]], seed: int = 1) -> Judge:
    """Half of the sample teaches the words, the other half, unseen by those, teaches the judgement."""
    sides = [(side(source), side(target)) for source, target in pairs if source.strip() and target.strip()]
    words, rest = sides[::2], sides[1::2]
    ratios = np.array([math.log((t.length + 1) / (s.length + 1)) for s, t in sides] or [0.0])
    low, middle, high = np.quantile(ratios, [0.16, 0.5, 0.84])
    judge = Judge(
        association=learn([(s.words, t.words) for s, t in words]),
        languages=_languages(words),
        ratio=float(middle),
        spread=float(max(0.05, (high - low) / 2)),
        ends=_ends(words),
        aligned=_UNDECIDED_ALIGNED,
        cut=(_UNDECIDED_CUT, _UNDECIDED_CUT),
    )
    if len(rest) < 50:
        return judge
    return _taught(judge, rest, random.Random(seed))


def _taught(judge: Judge, rest: list[tuple[Side, Side]], draw: random.Random) -> Judge:
    true, false, whole = [], [], []
    cut: tuple[list[list[float]], list[list[float]]] = ([], [])
    for place, (source, target) in enumerate(rest):
        aligned, marks = judge.measure(source, target)
        true.append(aligned)
        whole.append(marks)
        other = place + draw.choice([-1, 1]) * draw.randint(1, NEIGHBOURS)
        if 0 <= other < len(rest):
            false.append(judge.measure(source, rest[other][1])[0])
        for number in (0, 1):
            shorter = _shortened((source, target)[number], draw)
            if shorter:
                both = (shorter, target) if number == 0 else (source, shorter)
                cut[number].append(judge.measure(*both)[1])
    whole_ = np.array(whole)
    return Judge(
        association=judge.association,
        languages=judge.languages,
        ratio=judge.ratio,
        spread=judge.spread,
        ends=judge.ends,
        aligned=fit_real(np.array(true), np.array(false), real_is_yes=True),
        cut=(
            fit_real(whole_[:, CUT_FEATURES:], np.array(cut[0])[:, CUT_FEATURES:], real_is_yes=False),
            fit_real(whole_[:, :CUT_FEATURES], np.array(cut[1])[:, :CUT_FEATURES], real_is_yes=False),
        )
        if cut[0] and cut[1]
        else judge.cut,
    )


def _shortened(whole: Side, draw: random.Random) -> Side | None:
    """What is left when a text loses its last third or more."""
    words = whole.text.split()
    if len(words) >= 4:
        return side(" ".join(words[: max(1, round(len(words) * draw.uniform(*LEFT)))]))
    if len(whole.text) >= 8 and len(words) == 1:  # scripts without blanks
        return side(whole.text[: round(len(whole.text) * draw.uniform(*LEFT))])
    return None


def _languages(sides: Sequence[tuple[Side, Side]]) -> Languages:
    counts = [Counter(word for pair in sides for word in pair[number].words) for number in (0, 1)]
    totals = [count.total() + 1 for count in counts]
    return Languages(
        {
            word: max(
                -4.0, min(4.0, math.log((counts[0][word] + 0.3) / totals[0] * totals[1] / (counts[1][word] + 0.3)))
            )
            for word in counts[0] | counts[1]
        }
    )


def _ends(sides: Sequence[tuple[Side, Side]]) -> dict[str, float]:
    last = Counter(each.words[-1] for pair in sides for each in pair if each.words)
    anywhere = Counter(word for pair in sides for each in pair for word in each.words)
    share = last.total() / max(1, anywhere.total())
    return {
        word: math.log((last[word] + share) / (count + 1) / max(share, 1e-9))
        for word, count in anywhere.items()
        if count > 4
    }


def _mean(evidence: list[float]) -> float:
    known = [value for value in evidence if value >= 0]
    return sum(known) / (len(known) + 0.5)


def _total(evidence: list[float]) -> float:
    return math.sqrt(sum(value for value in evidence if value > 0))


def _numbers_agree(source: Side, target: Side) -> float:
    if not source.numbers and not target.numbers:
        return 0.0
    both = Counter(source.numbers) & Counter(target.numbers)
    return 2 * both.total() / (len(source.numbers) + len(target.numbers)) - 0.5


def _undecided(features: int, log_odds: float) -> Logistic:
    weights = np.zeros(1 + features + features * (features + 1) // 2)
    weights[0] = log_odds
    return Logistic(np.zeros(features), np.ones(features), weights)


_UNDECIDED_ALIGNED = _undecided(7, 3.0)
_UNDECIDED_CUT = _undecided(CUT_FEATURES, -9.0)
