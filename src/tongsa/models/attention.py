"""Attention (§3.2): scaled dot products, and several heads of them."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention

Weights = list[Tensor]
"""Attention weights (batch, heads, queries, keys) that a caller asked for, in the order of the layers."""

KeysValues = tuple[Tensor, Tensor]
"""Keys and values of one attention: (batch, heads, positions, d_k), (batch, heads, positions, d_v)."""


AttentionFunction = Callable[[Tensor, Tensor, Tensor, Tensor | None, Weights | None], Tensor]
"""Attention(Q, K, V) of all heads, with a mask, and a list for the weights if a caller asked for them."""


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, seen: Weights | None = None) -> Tensor:
    """softmax(QK^T / sqrt(d_k)) V                                            §3.2.1, Eq. 1

    q (batch, heads, queries, d_k); k (batch, heads, keys, d_k); v (batch, heads, keys, d_v).
    mask is True where a query may attend, and broadcasts to (batch, heads, queries, keys); None masks nothing.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    if seen is not None:
        seen.append(weights.detach())
    return weights @ v


def fused_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, seen: Weights | None = None) -> Tensor:
    """The same as `attention`, by PyTorch's own kernel, which is faster, unless the weights are requested."""
    return scaled_dot_product_attention(q, k, v, mask) if seen is None else attention(q, k, v, mask, seen)


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O,  head_i = Attention(QW_i^Q, KW_i^K, VW_i^V)       §3.2.2

    The h matrices W_i^Q are concatenated in `w_q`, and likewise the others. The paper has no biases; we have them, as
    do the authors' code and every later toolkit. Another attention function than the paper's is in variants.py.
    """

    def __init__(
        self, d_model: int, heads: int, d_k: int, d_v: int, function: AttentionFunction = fused_attention
    ) -> None:
        super().__init__()
        self.heads = heads
        self.function = function
        self.w_q = nn.Linear(d_model, heads * d_k)
        self.w_k = nn.Linear(d_model, heads * d_k)
        self.w_v = nn.Linear(d_model, heads * d_v)
        self.w_o = nn.Linear(heads * d_v, d_model)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None, seen: Weights | None = None) -> Tensor:
        """x (batch, queries, d_model) attends to memory (batch, keys, d_model); in self-attention they are equal."""
        if memory is x:
            return self.attend(*self.queries_keys_values(x), mask, seen)
        return self.attend(self.queries(x), *self.keys_values(memory), mask, seen)

    def queries(self, x: Tensor) -> Tensor:
        return self._project(x, self.w_q)[0]

    def keys_values(self, memory: Tensor) -> KeysValues:
        keys, values = self._project(memory, self.w_k, self.w_v)
        return keys, values

    def queries_keys_values(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        queries, keys, values = self._project(x, self.w_q, self.w_k, self.w_v)
        return queries, keys, values

    def step(self, x: Tensor, past: KeysValues) -> tuple[Tensor, KeysValues]:
        """Causal self-attention of one position (batch, 1, d_model), given the keys and values of earlier positions.

        Returns its output, and the keys and values with its own appended.
        """
        queries, keys, values = self.queries_keys_values(x)
        grown = (torch.cat([past[0], keys], dim=2), torch.cat([past[1], values], dim=2))
        return self.attend(queries, *grown, None), grown

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, seen: Weights | None = None) -> Tensor:
        heads = self.function(q, k, v, mask, seen)
        return self.w_o(heads.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]  # (batch, queries, d_model)

    def _project(self, x: Tensor, *maps: nn.Linear) -> list[Tensor]:
        """Compute several linear maps of one input as one matrix product.

        Each (batch, positions, heads * d) -> (batch, heads, positions, d)
        """
        weight = torch.cat([each.weight for each in maps])
        bias = torch.cat([each.bias for each in maps])
        parts = linear(x, weight, bias).split([each.out_features for each in maps], dim=-1)
        return [part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts]
