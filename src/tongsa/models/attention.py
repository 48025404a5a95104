"""Attention (§3.2): scaled dot products, and several heads of them."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

Weights = list[Tensor]
"""Attention weights (batch, heads, queries, keys) that a caller asked for, in the order of the layers."""


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, seen: Weights | None = None) -> Tensor:
    """softmax(QK^T / sqrt(d_k)) V                                            §3.2.1, Eq. 1

    q (batch, heads, queries, d_k); k (batch, heads, keys, d_k); v (batch, heads, keys, d_v).
    mask is True where a query may look, and broadcasts to (batch, heads, queries, keys); None lets it look everywhere.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    if seen is not None:
        seen.append(weights.detach())
    return weights @ v


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O,  head_i = Attention(QW_i^Q, KW_i^K, VW_i^V)       §3.2.2

    The h matrices W_i^Q stand side by side in `w_q`, and so for the others. The paper writes no biases; we have them,
    as the authors' own code and every later toolkit do.
    """

    def __init__(self, d_model: int, heads: int, d_k: int, d_v: int) -> None:
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, heads * d_k)
        self.w_k = nn.Linear(d_model, heads * d_k)
        self.w_v = nn.Linear(d_model, heads * d_v)
        self.w_o = nn.Linear(heads * d_v, d_model)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None, seen: Weights | None = None) -> Tensor:
        """x (batch, queries, d_model) looks at memory (batch, keys, d_model); in self-attention the two are one."""
        return self.look(self.queries(x), *self.keys_values(memory), mask, seen)

    def queries(self, x: Tensor) -> Tensor:
        return self._split(self.w_q(x))

    def keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        return self._split(self.w_k(memory)), self._split(self.w_v(memory))

    def look(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, seen: Weights | None = None) -> Tensor:
        heads = attention(q, k, v, mask, seen)  # (batch, heads, queries, d_v)
        return self.w_o(heads.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]  # (batch, queries, d_model)

    def _split(self, x: Tensor) -> Tensor:
        """(batch, positions, heads * d) -> (batch, heads, positions, d)"""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)
