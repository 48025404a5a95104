"""Learn from a sample of a corpus what its pairs look like.

Examples are made from the sample itself: unchanged pairs, pairs with the sentence of a neighbour (not translations
of each other), and pairs with one side truncated. No labelled corpus is needed.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

import numpy as np

from tongsa.corpus.association import Association, learn
from tongsa.corpus.logistic import Logistic, choose_threshold, fit_real
from tongsa.corpus.pair_model import (
    ALIGNED_FEATURES,
    CUT,
    CUT_FEATURES,
    SUFFIX,
    UNRELATED,
    LanguageOdds,
    PairModel,
    Side,
    SideStatistics,
    side,
    undecided,
)

NEIGHBOURS = 4
"""Lines before or after from which a wrong partner is drawn: real shifts are to neighbours, which share a topic."""
LEFT = (0.25, 0.65)
"""Smallest and largest fraction that remains of a truncated sentence."""
FEWEST = 50
"""Minimum number of pairs to learn from."""
ENOUGH = 1000
"""Minimum number of pairs from which to choose the threshold for unrelated texts; the strictest is taken for fewer."""
MANY = 6000
"""Number of examples below which the penalty grows: with little evidence, weights stay near zero."""
SMOOTHING = 3.0
MARKS = ".!?:;…。！？'\"”’»«)]›“ "
BARE = 8
"""One text in this many is used without its final punctuation mark."""

Pair = tuple[Side, Side]


def learn_pair_model(pairs: Sequence[tuple[str, str]], seed: int = 1) -> PairModel:
    """Learn the word associations from one half of the sample, and the rest from the other half, unseen by them."""
    sides = [(side(source), side(target)) for source, target in pairs if source.strip() and target.strip()]
    words, rest = sides[::2], sides[1::2]
    ratios = np.array([math.log((t.length + 1) / (s.length + 1)) for s, t in sides] or [0.0])
    low, middle, high = np.quantile(ratios, [0.16, 0.5, 0.84])
    association = learn([(s.words, t.words) for s, t in words])
    draw = random.Random(seed)
    model = PairModel(
        association=association,
        languages=_languages(words),
        ratio=float(middle),
        spread=float(max(0.05, (high - low) / 2)),
        statistics=_side_statistics(words, rest, association, draw),
        aligned=undecided(ALIGNED_FEATURES, 3.0),
        unrelated=UNRELATED[-1],
        cut=(undecided(CUT_FEATURES, -9.0), undecided(CUT_FEATURES, -9.0)),
        surely=(CUT[-1], CUT[-1]),
    )
    return model if len(rest) < FEWEST else _fitted(model, rest, draw)


def _fitted(model: PairModel, rest: list[Pair], draw: random.Random) -> PairModel:
    real, made = _aligned_examples(model, rest, draw)
    penalty = 1e-4 * max(1.0, MANY / (len(real) + len(made))) ** 2
    related = fit_real(real, made, real_is_yes=True, ridge=penalty)
    against = -related.log_odds(real)
    steps = UNRELATED if len(real) >= ENOUGH else UNRELATED[-1:]
    model = replace(model, aligned=related, unrelated=choose_threshold(against, -related.log_odds(made), steps))
    sound = [pair for pair, odds in zip(rest, against.tolist(), strict=True) if odds < UNRELATED[-1]]
    source, target = (_learn_truncation(model, sound, number, draw) for number in (0, 1))
    return replace(model, cut=(source[0], target[0]), surely=(source[1], target[1])) if source and target else model


def _aligned_examples(model: PairModel, rest: list[Pair], draw: random.Random) -> tuple[np.ndarray, np.ndarray]:
    """Unchanged pairs, and pairs with the target of a neighbour."""
    true = [model.measure(source, target)[0] for source, target in rest]
    false = []
    for place, (source, _) in enumerate(rest):
        other = place + draw.choice([-1, 1]) * draw.randint(1, NEIGHBOURS)
        if 0 <= other < len(rest):
            false.append(model.measure(source, rest[other][1])[0])
    return np.array(true), np.array(false)


def _learn_truncation(
    model: PairModel, sound: list[Pair], number: int, draw: random.Random
) -> tuple[Logistic, float] | None:
    """Learn to detect that a source (0) or a target (1) was truncated, and the threshold for it.

    A text that only lost its final mark is not truncated: examples of that are made too, since most corpora have few.
    """
    columns = slice(CUT_FEATURES, None) if number == 0 else slice(0, CUT_FEATURES)

    def marks(pair: Pair, changed: Side) -> list[float]:
        return model.measure(*((changed, pair[1]) if number == 0 else (pair[0], changed)))[1][columns]

    whole = np.array([marks(pair, pair[number]) for pair in sound])
    cut = np.array([marks(pair, rest) for pair in sound if (rest := shortened(pair[number], draw))])
    bare = [
        marks(pair, side(pair[number].text.rstrip(MARKS)))
        for pair in sound[::BARE]
        if pair[number].ends and pair[number].text.rstrip(MARKS)
    ]
    if not len(cut):
        return None
    found = fit_real(whole, cut, real_is_yes=False, ridge=3e-3, never=np.array(bare) if bare else None)
    return found, choose_threshold(found.log_odds(whole), found.log_odds(cut), CUT)


def shortened(whole: Side, draw: random.Random) -> Side | None:
    """The text without its last third or more, cut after a word or in the middle of one."""
    words = whole.text.split()
    share = draw.uniform(*LEFT)
    if len(words) >= 4 and draw.random() < 0.5:
        return side(" ".join(words[: max(1, round(len(words) * share))]))
    if len(whole.text) >= 12:
        return side(whole.text[: round(len(whole.text) * share)].rstrip())
    return None


def _languages(sides: Sequence[Pair]) -> LanguageOdds:
    counts = [Counter(word for pair in sides for word in pair[number].words) for number in (0, 1)]
    totals = [count.total() + 1 for count in counts]
    return LanguageOdds(
        {
            word: max(
                -4.0, min(4.0, math.log((counts[0][word] + 0.3) / totals[0] * totals[1] / (counts[1][word] + 0.3)))
            )
            for word in counts[0] | counts[1]
        }
    )


def _side_statistics(
    words: Sequence[Pair], rest: Sequence[Pair], association: Association, draw: random.Random
) -> tuple[SideStatistics, SideStatistics]:
    """Statistics of both sides. Partners are counted in text unseen by the association, to avoid bias."""
    known: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    met: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for source, target in rest:
        evidence = association.evidence(source.words, target.words)
        for number, (each, paired) in enumerate(
            zip((source, target), (evidence.paired_left, evidence.paired_right), strict=True)
        ):
            known[number].update(each.words)
            met[number].update(compress(each.words, paired))
    made = []
    for number in (0, 1):
        usually = (met[number].total() + 1) / (known[number].total() + 3)
        rates = {
            word: min(0.97, (met[number][word] + SMOOTHING * usually) / (count + SMOOTHING))
            for word, count in known[number].items()
            if count > 1
        }
        texts = [pair[number] for pair in (*words, *rest)]
        forms = Counter(word.lower() for each in texts for word in _WORDS.findall(each.text))
        twice = frozenset(word for word, count in forms.items() if count > 1)
        made.append(SideStatistics(_ends(texts, draw), twice, rates, usually * 0.5))
    return made[0], made[1]


_WORDS = re.compile(r"[^\W_]+")


def _ends(texts: Sequence[Side], draw: random.Random) -> dict[str, float]:
    """How likely a text with this ending is complete rather than truncated."""
    whole: Counter[str] = Counter()
    part: Counter[str] = Counter()
    for each in texts:
        if rest := shortened(each, draw):
            whole.update(each.text[-length:] for length in range(1, SUFFIX + 1))
            part.update(rest.text[-length:] for length in range(1, SUFFIX + 1))
    return {
        suffix: math.log((whole[suffix] + 1) / (part[suffix] + 1))
        for suffix, count in (whole + part).items()
        if count > (4 if len(suffix) > 1 else 1)
    }
