"""Logistic regression in a few lines: quadratic features, Newton's method, a small ridge penalty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ROUNDS = 14
TRIMS = 4
DOUBTFUL = 2.0
"""Log odds beyond which a real example is assumed to be faulty."""
RARE = 20.0
"""Weight of sound pairs when the threshold is chosen, since they are more frequent than faults."""
PURE, SPARE = 1.05, 1.0
"""How much the number found may grow: by this factor, plus this many."""


@dataclass(frozen=True)
class Logistic:
    """log odds of yes, given rows of features."""

    mean: np.ndarray
    spread: np.ndarray
    weights: np.ndarray

    def log_odds(self, features: np.ndarray) -> np.ndarray:
        return np.asarray(_expanded((features - self.mean) / self.spread) @ self.weights)


def fit_real(
    real: np.ndarray, made: np.ndarray, *, real_is_yes: bool, ridge: float, never: np.ndarray | None = None
) -> Logistic:
    """Learn to tell real examples from corrupted ones; `never` are further examples that count as real.

    A few of the real ones are faulty themselves. The first fit finds the worst of them, and later fits leave them out;
    otherwise one fault in a hundred would keep the odds from ever rising above a hundred to one.
    """
    good = real
    for _ in range(TRIMS):
        all_ = good if never is None else np.concatenate([good, never])
        found = fit(all_, made, ridge) if real_is_yes else fit(made, all_, ridge, RARE)
        good = real[found.log_odds(real) * (1 if real_is_yes else -1) > -DOUBTFUL]
    return found


def choose_threshold(real: np.ndarray, made: np.ndarray, steps: Sequence[float]) -> float:
    """The lowest score above which nearly all real examples resemble the corrupted ones.

    A threshold finds the same share of real faults as of artificial ones. So the number found,
    divided by that share, stays the same from score to score as long as only faults are found; where it grows towards
    lower scores, sound ones are among them.
    """
    held = [(real > step).mean() / max((made > step).mean(), 0.1) for step in steps]
    return next(step for step, one in zip(steps, held, strict=True) if one <= PURE * held[-1] + SPARE / len(real))


def fit(yes: np.ndarray, no: np.ndarray, ridge: float, weight: float = 1.0) -> Logistic:
    """Fit log odds as if both kinds were equally frequent; `weight` is the weight of the second kind in the fit."""
    features = np.concatenate([yes, no])
    mean, spread = features.mean(0), features.std(0) + 1e-6
    rows = _expanded((features - mean) / spread)
    wanted = np.concatenate([np.ones(len(yes)), np.zeros(len(no))])
    share = np.concatenate([np.full(len(yes), 1 / len(yes)), np.full(len(no), weight / len(no))])
    share *= len(rows) / share.sum()
    ridge *= len(rows)
    weights = np.zeros(rows.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (share * (chance - wanted)) + ridge * weights
        curve = (rows * (share * np.maximum(chance * (1 - chance), 1e-5))[:, None]).T @ rows
        weights -= np.linalg.solve(curve + ridge * np.eye(len(weights)), slope)
    weights[0] += math.log(weight)
    return Logistic(mean, spread, weights)


def _expanded(rows: np.ndarray) -> np.ndarray:
    """1, every feature, and every product of two features; outliers are clipped."""
    rows = np.clip(rows, -5, 5)
    first, second = np.triu_indices(rows.shape[1])
    return np.concatenate([np.ones((len(rows), 1)), rows, rows[:, first] * rows[:, second]], axis=1)
