"""The facts of Table 1: what a layer of each kind costs, and how far a signal travels through it.

n is the length of a sequence, d the width of a layer, k the width of a kernel, r that of a neighbourhood. The formulas
are orders, as the paper has them: constants (gates, heads, both directions) are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class LayerKind:
    """A row of Table 1: the formulas, and functions that compute them."""

    name: str
    complexity: str
    """Operations per layer, as a formula of n, d and k."""
    sequential: str
    """Sequential operations, as a formula."""
    path: str
    """Maximum path length between two positions of a sequence, as a formula."""
    operations: Callable[[float, float, float], float]
    """`complexity` of n, d, k."""
    steps: Callable[[float, float], float]
    """`sequential` of n, k."""
    longest: Callable[[float, float], float]
    """`path` of n, k."""


SELF_ATTENTION = LayerKind(
    "self-attention", "n²·d", "1", "1", lambda n, d, k: n * n * d, lambda n, k: 1, lambda n, k: 1
)
RECURRENT = LayerKind("recurrent", "n·d²", "n", "n", lambda n, d, k: n * d * d, lambda n, k: n, lambda n, k: n)
RESTRICTED = LayerKind(
    "self-attention (restricted)",
    "r·n·d",
    "1",
    "n/r",
    lambda n, d, r: r * n * d,
    lambda n, r: 1,
    lambda n, r: max(1.0, n / r),
)
CONVOLUTION = LayerKind(
    "convolutional", "k·n·d²", "1", "n/k", lambda n, d, k: k * n * d * d, lambda n, k: 1, lambda n, k: n / k
)
DILATED = LayerKind(
    "dilated convolutional",
    "k·n·d²",
    "1",
    "log_k(n)",
    lambda n, d, k: k * n * d * d,
    lambda n, k: 1,
    lambda n, k: math.log(max(n, k), max(k, 2)),
)

# Not in the paper's table: one query attends to n memories.
MEMORY_HOP = LayerKind("memory hop", "n·d", "1", "1", lambda n, d, k: n * d, lambda n, k: 1, lambda n, k: 1)

BY_ATTENTION = "1, by attention"
"""Path from a source position to a target position when the decoder attends to the source."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The row of one architecture in Table 1, for the sizes in its section."""

    kind: LayerKind
    layers: str
    """Layers of encoder and decoder."""
    d: int
    k: int | None = None
    """Kernel width of a convolution, or r of restricted self-attention."""
    decoder_path: str
    """Path length from a source position to a target position."""
    sees: int | None = None
    """Source positions that one output of the encoder depends on; None for all of them."""
