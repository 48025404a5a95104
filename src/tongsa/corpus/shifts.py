"""Find regions where one side is shifted: the target of each line is some lines further up or down.

A hidden Markov model whose state is the offset: each line's evidence is how well the source matches the target at
that offset, and changing the offset has a cost. The best path (Viterbi) finds where regions begin and end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

FURTHEST = 3
OFFSETS = [0, *(sign * distance for distance in range(1, FURTHEST + 1) for sign in (1, -1))]
SWITCH = 7.0
"""Cost of a change of the offset, in log odds."""
BOUND = 4.0
"""Bound of one line's evidence."""


def offsets(straight: np.ndarray, odds: Callable[[int, int], float]) -> list[int]:
    """The offset of each line; `straight` is the evidence at 0, `odds(line, offset)` is called where that is weak."""
    evidence = np.full((len(straight), len(OFFSETS)), -BOUND)
    evidence[:, 0] = np.clip(straight, -BOUND, BOUND)
    doubtful = _doubtful(straight)
    if not doubtful.any():
        return [0] * len(straight)
    for line in np.flatnonzero(doubtful).tolist():
        for state, offset in enumerate(OFFSETS[1:], 1):
            if 0 <= line + offset < len(straight):
                evidence[line, state] = min(BOUND, max(-BOUND, odds(line, offset)))
    return _widened([OFFSETS[state] for state in _path(evidence)], straight)


def _doubtful(straight: np.ndarray) -> np.ndarray:
    """Lines in whose vicinity at least two of three have weak evidence, and their neighbours."""
    weak = (straight < 1.0).astype(int)
    together = np.convolve(weak, np.ones(3, int), "same") >= 2
    return np.asarray(np.convolve(together.astype(int), np.ones(5, int), "same") > 0)


def _path(evidence: np.ndarray) -> list[int]:
    score = evidence[0].copy()
    score[1:] -= SWITCH
    back = np.zeros(evidence.shape, int)
    for line in range(1, len(evidence)):
        best = int(score.argmax())
        switched = score[best] - SWITCH
        back[line] = np.where(score >= switched, np.arange(len(score)), best)
        score = np.maximum(score, switched) + evidence[line]
    path = [int(score.argmax())]
    for line in range(len(evidence) - 1, 0, -1):
        path.append(int(back[line, path[-1]]))
    return path[::-1]


def _widened(found: list[int], straight: np.ndarray) -> list[int]:
    """Extend each region by the line at its end, which has no partner at all."""
    wide = found[:]
    for line, offset in enumerate(found):
        if not offset and straight[line] < 0:
            wide[line] = next(
                (found[near] for near in (line - 1, line + 1) if 0 <= near < len(found) and found[near]), 0
            )
    return wide
