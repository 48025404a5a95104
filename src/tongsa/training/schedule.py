"""The learning rate, a pure function of how far the training is."""

from __future__ import annotations

import math

from tongsa.config import TrainingSection


def learning_rate(section: TrainingSection, d_model: int, update: int, fraction: float) -> float:
    """The rate of an update (counted from 1), when `fraction` of the training is behind it.

    Only `cosine` looks at the fraction, which also counts minutes where they are the budget.
    """
    if section.schedule == "noam":
        return noam(update, d_model, section.warmup) * _scale(section, d_model)
    rising = min(1.0, update / section.warmup)
    if section.schedule == "inverse-sqrt":
        return section.peak * min(rising, math.sqrt(section.warmup / update))
    if section.schedule == "cosine":
        return section.peak * rising * (1 + math.cos(math.pi * min(1.0, fraction))) / 2
    return section.peak * rising


def noam(update: int, d_model: int, warmup: int) -> float:
    """d_model^-0.5 * min(step^-0.5, step * warmup^-1.5)                                           §5.3, Eq. 3"""
    return float(d_model**-0.5 * min(update**-0.5, update * warmup**-1.5))


def _scale(section: TrainingSection, d_model: int) -> float:
    return section.peak / noam(section.warmup, d_model, section.warmup) if section.peak else 1.0
