"""Logistic regression, the small way: quadratic features, Newton's method, a little ridge."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

ROUNDS = 14
RIDGE = 1e-4
TRIMS = 4
DOUBTFUL = 2.0
"""log odds beyond which a real example is taken for a faulty one."""
RARE = 20.0
"""A fault that is looked for is rarer than sound pairs: these weigh so much more where the line is drawn."""


@dataclass(frozen=True)
class Logistic:
    """log odds of yes, given rows of features."""

    mean: np.ndarray
    spread: np.ndarray
    weights: np.ndarray

    def log_odds(self, features: np.ndarray) -> np.ndarray:
        return np.asarray(_expanded((features - self.mean) / self.spread) @ self.weights)


def fit_real(real: np.ndarray, made: np.ndarray, *, real_is_yes: bool) -> Logistic:
    """Tell real examples from ones made wrong on purpose.

    A few of the real ones are faulty themselves. A first fit finds the worst of them, the next ones go without them;
    otherwise one fault in a hundred would keep the odds from ever rising above a hundred to one.
    """
    good = real
    for _ in range(TRIMS):
        found = fit(good, made) if real_is_yes else fit(made, good, RARE)
        good = real[found.log_odds(real) * (1 if real_is_yes else -1) > -DOUBTFUL]
    return found


def fit(yes: np.ndarray, no: np.ndarray, weight: float = 1.0) -> Logistic:
    """log odds as if there were as many of both kinds; `weight` is how much more the second counts in the fit."""
    features = np.concatenate([yes, no])
    mean, spread = features.mean(0), features.std(0) + 1e-6
    rows = _expanded((features - mean) / spread)
    wanted = np.concatenate([np.ones(len(yes)), np.zeros(len(no))])
    share = np.concatenate([np.full(len(yes), 1 / len(yes)), np.full(len(no), weight / len(no))])
    share *= len(rows) / share.sum()
    ridge = RIDGE * len(rows)
    weights = np.zeros(rows.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (share * (chance - wanted)) + ridge * weights
        curve = (rows * (share * np.maximum(chance * (1 - chance), 1e-5))[:, None]).T @ rows
        weights -= np.linalg.solve(curve + ridge * np.eye(len(weights)), slope)
    weights[0] += math.log(weight)
    return Logistic(mean, spread, weights)


def _expanded(rows: np.ndarray) -> np.ndarray:
    """1, every feature, and every product of two; far-off values are pulled in."""
    rows = np.clip(rows, -5, 5)
    first, second = np.triu_indices(rows.shape[1])
    return np.concatenate([np.ones((len(rows), 1)), rows, rows[:, first] * rows[:, second]], axis=1)
