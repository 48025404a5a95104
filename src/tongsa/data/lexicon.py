"""Which tokens of two languages go together: IBM model 1 (Brown et al. 1993).

Every token of the target was written by one token of the source; t(target | source) is found by counting, under the
present t, which one wrote which (expectation), and dividing (maximisation). Whole arrays at a time, so that millions of
token pairs take seconds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROUNDS = 4

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Lexicon(NamedTuple):
    """t(target | source) of all tokens that were seen in one pair, by source and then by target."""

    sources: Ints
    targets: Ints
    chances: Floats


def learn_lexicon(sources: Ints, targets: Ints, places: Ints, width: int) -> Lexicon:
    """Learn from every source token beside every target token of its pair.

    `places` says which target token of the corpus each entry of `targets` is; ids of the target are below `width`.
    """
    keys, cells = np.unique(sources * width + targets, return_inverse=True)
    left = keys // width
    t: Floats = np.ones(len(left))
    for _ in range(ROUNDS):
        chances = t[cells]
        chances /= np.bincount(places, chances)[places]
        counts: Floats = np.bincount(cells, chances, len(left)).astype(np.float64)
        t = counts / np.bincount(left, counts)[left]
    return Lexicon(left, keys % width, t)
