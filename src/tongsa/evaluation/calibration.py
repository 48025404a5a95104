"""Calibration: a monotone curve from the model's log-probability to quality, fitted on the validation set.

Quality is the sentence's chrF against its reference, from 0 to 1. Pairs are averaged in bins of equal size, then
neighbours in the wrong order are pooled (isotonic regression), so that a few hundred pairs give a stable curve.
"""

from __future__ import annotations

from collections.abc import Sequence

from tongsa.evaluation.metrics import SENTENCE_METRIC, text_metric

BINS = 12


def sentence_quality(hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
    """Return the chrF of each sentence, from 0 to 1."""
    metric = text_metric(SENTENCE_METRIC)
    return [
        metric.sentence(hypothesis, reference, language="") / 100
        for hypothesis, reference in zip(hypotheses, references, strict=True)
    ]


def fit(averages: Sequence[float], qualities: Sequence[float], bins: int = BINS) -> list[list[float]]:
    """Return points (mean log-probability of a token, quality), increasing in both, for the card's `confidence`."""
    pairs = sorted(zip(averages, qualities, strict=True))
    size = max(1, -(-len(pairs) // bins))
    groups = [pairs[i : i + size] for i in range(0, len(pairs), size)]
    pooled: list[tuple[float, float, int]] = []  # log-probability, quality, weight
    for group in groups:
        n = len(group)
        new = (sum(x for x, _ in group) / n, sum(y for _, y in group) / n, n)
        while pooled and pooled[-1][1] >= new[1]:
            x, y, m = pooled.pop()
            total = m + new[2]
            new = ((x * m + new[0] * new[2]) / total, (y * m + new[1] * new[2]) / total, total)
        pooled.append(new)
    return [[round(x, 4), round(y, 4)] for x, y, _ in pooled]
