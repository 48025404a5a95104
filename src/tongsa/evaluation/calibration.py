"""Calibration: how good a translation will be, given how likely the model finds it and how familiar its source is.

The weights of `tongsa.translation.confidence` are fitted by logistic regression to the quality of the validation set,
the chrF of each sentence against its reference. Validation text is like the training text, so by itself it would not
show what happens to other text. Made-up sources do: in each, a random share of the pieces is replaced by random pieces
of the vocabulary, and the quality of its translation counts as that of the original, times the share that was left.
"""

from __future__ import annotations

import random
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tongsa.evaluation.metrics import SENTENCE_METRIC, text_metric
from tongsa.runs.card import ConfidenceWeights

MADE_UP = 500
"""Number of sources that are made up."""
MADE_UP_WEIGHT = 0.25
"""Weight of all made-up sources together, relative to the validation set: usual text matters most."""
RIDGE = 1e-3
ROUNDS = 25
LEAST = (0.05, 0.0)
"""Smallest weights of the average and the familiarity, so that confidence rises with both."""

GROUPS = 10
"""Number of groups of a reliability diagram."""

Floats = NDArray[np.float64]


def sentence_quality(hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
    """Return the chrF of each sentence, from 0 to 1."""
    metric = text_metric(SENTENCE_METRIC)
    return [
        metric.sentence(hypothesis, reference, language="") / 100
        for hypothesis, reference in zip(hypotheses, references, strict=True)
    ]


def make_up(
    sources: Sequence[Sequence[int]], pieces: Sequence[int], count: int = MADE_UP, seed: int = 1
) -> list[tuple[int, list[int], float]]:
    """Replace a random share of the pieces of up to `count` sources: (index of the source, ids, share that is left)."""
    draw = random.Random(seed)
    found = []
    for index in range(0, len(sources), max(1, -(-len(sources) // count))):
        if not sources[index]:
            continue
        share = draw.random()
        replaced = [draw.random() < share for _ in sources[index]]
        ids = [draw.choice(pieces) if new else id for id, new in zip(sources[index], replaced, strict=True)]
        found.append((index, ids, 1 - sum(replaced) / len(replaced)))
    return found


def fit(
    real: Sequence[tuple[float, float]],
    qualities: Sequence[float],
    made_up: Sequence[tuple[float, float]] = (),
    made_up_qualities: Sequence[float] = (),
) -> ConfidenceWeights:
    """Fit the weights to rows (average log-probability, familiarity) and their qualities."""
    rows = np.array([*real, *made_up], dtype=np.float64)
    wanted = np.clip(np.array([*qualities, *made_up_qualities], dtype=np.float64), 0.01, 0.99)
    each = MADE_UP_WEIGHT * len(real) / max(1, len(made_up))
    importance = np.array([1.0] * len(real) + [each] * len(made_up))
    weights = np.array([np.nan, np.nan])
    for _ in LEAST:  # weights below their limit are set to it, and the others are fitted again
        bias, weights = _logistic(rows, wanted, importance, weights)
        low = weights < LEAST
        if not low.any():
            break
        weights = np.where(low, LEAST, np.nan)
    else:
        bias, weights = _logistic(rows, wanted, importance, np.maximum(np.nan_to_num(weights), LEAST))
    return ConfidenceWeights(
        bias=round(float(bias), 5), average=round(float(weights[0]), 5), familiarity=round(float(weights[1]), 5)
    )


def _logistic(rows: Floats, wanted: Floats, importance: Floats, fixed: Floats) -> tuple[float, Floats]:
    """Logistic regression by Newton's method: a bias, and a weight for each column whose fixed weight is NaN."""
    free = np.isnan(fixed)
    offset = rows[:, ~free] @ fixed[~free]
    mean, spread = rows[:, free].mean(0), rows[:, free].std(0) + 1e-6
    features = np.concatenate([np.ones((len(rows), 1)), (rows[:, free] - mean) / spread], axis=1)
    ridge = RIDGE * importance.sum() * np.eye(features.shape[1])
    ridge[0, 0] = 1e-9
    found = np.zeros(features.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(features @ found + offset, -30, 30)))
        slope = features.T @ (importance * (chance - wanted)) + ridge @ found
        curve = (features * (importance * np.maximum(chance * (1 - chance), 1e-4))[:, None]).T @ features + ridge
        found -= np.linalg.solve(curve, slope)
    weights = fixed.copy()
    weights[free] = found[1:] / spread
    return float(found[0] - (weights[free] * mean).sum()), weights


def roc_area(better: Sequence[float], worse: Sequence[float]) -> float:
    """Return the area under the ROC curve: how often one of `better` has a higher value than one of `worse`.

    Equal values count half, so that 0.5 is chance; also 0.5 if one of the two is empty.
    """
    if not better or not worse:
        return 0.5
    ordered = sorted(worse)
    wins = sum(bisect_left(ordered, value) + bisect_right(ordered, value) for value in better)
    return wins / (2 * len(better) * len(worse))


def median_split(confidences: Sequence[float], qualities: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the confidences of the translations that are not worse than the median, and those of the others."""
    median = statistics.median(qualities)
    pairs = list(zip(confidences, qualities, strict=True))
    return [c for c, quality in pairs if quality >= median], [c for c, quality in pairs if quality < median]


def groups_by_confidence(
    confidences: Sequence[float], qualities: Sequence[float], groups: int = GROUPS
) -> list[tuple[float, float]]:
    """Return the mean confidence and the mean quality of groups of equal size, the least certain first."""
    ordered = sorted(zip(confidences, qualities, strict=True))
    ends = [round(number * len(ordered) / groups) for number in range(groups + 1)]
    parts = [ordered[first:last] for first, last in pairwise(ends) if first < last]
    return [(statistics.fmean(c for c, _ in part), statistics.fmean(q for _, q in part)) for part in parts]
