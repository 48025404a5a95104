"""Logistic regression, the small way: quadratic features, Newton's method, a little ridge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ROUNDS = 12
RIDGE = 1e-2


@dataclass(frozen=True)
class Logistic:
    """log odds of yes, given rows of features."""

    mean: np.ndarray
    spread: np.ndarray
    weights: np.ndarray

    def log_odds(self, features: np.ndarray) -> np.ndarray:
        return np.asarray(_expanded((features - self.mean) / self.spread) @ self.weights)


DOUBTFUL = 3.0
"""log odds beyond which a real example is taken for a faulty one."""


def fit_real(real: np.ndarray, made: np.ndarray, *, real_is_yes: bool) -> Logistic:
    """Tell real examples from ones made wrong on purpose.

    A few of the real ones are faulty themselves. A first fit finds the worst of them, the next ones go without them;
    otherwise one fault in a hundred would keep the odds from ever rising above a hundred to one.
    """
    good = real
    for _ in range(3):
        found = fit(good, made) if real_is_yes else fit(made, good)
        good = real[found.log_odds(real) * (1 if real_is_yes else -1) > -DOUBTFUL]
    return found


def fit(yes: np.ndarray, no: np.ndarray) -> Logistic:
    """Both kinds count the same, whatever their numbers."""
    features = np.concatenate([yes, no])
    mean, spread = features.mean(0), features.std(0) + 1e-6
    rows = _expanded((features - mean) / spread)
    wanted = np.concatenate([np.ones(len(yes)), np.zeros(len(no))])
    share = np.concatenate([np.full(len(yes), 0.5 / len(yes)), np.full(len(no), 0.5 / len(no))]) * len(rows)
    weights = np.zeros(rows.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (share * (chance - wanted)) + RIDGE * len(rows) * 1e-2 * weights
        curve = (rows * (share * np.maximum(chance * (1 - chance), 1e-5))[:, None]).T @ rows
        weights -= np.linalg.solve(curve + RIDGE * len(rows) * 1e-2 * np.eye(len(weights)), slope)
    return Logistic(mean, spread, weights)


def _expanded(rows: np.ndarray) -> np.ndarray:
    """1, every feature, and every product of two; far-off values are pulled in."""
    rows = np.clip(rows, -5, 5)
    first, second = np.triu_indices(rows.shape[1])
    return np.concatenate([np.ones((len(rows), 1)), rows, rows[:, first] * rows[:, second]], axis=1)
