"""What the paper compares its own choices with, and what its readers ask about: variants of the layers, by key.

Each is a small module in the place of one of the paper's. Nothing here is used unless the [model] section of a recipe
says so; experiments do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from tongsa.config.architectures import TransformerLayers
from tongsa.models.attention import AttentionFunction, MultiHeadAttention, Weights, attention, fused_attention
from tongsa.models.dropout import dropout
from tongsa.models.embeddings import Positions


def dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, seen: Weights | None = None) -> Tensor:
    """softmax(QK^T) V: Eq. 1 without 1/sqrt(d_k)                                                  §3.2.1"""
    return attention(q * math.sqrt(q.shape[-1]), k, v, mask, seen)


class AdditiveAttention(nn.Module):
    """softmax(e) V,  e_ij = w . tanh(q_i + k_j): "a feed-forward network with a single hidden layer"   §3.2.1

    Bahdanau et al. 2014 write w . tanh(W s + U h): W and U are the W^Q and W^K of the heads, and w is `weight`.
    """

    def __init__(self, heads: int, d_k: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(heads, d_k))

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, seen: Weights | None = None) -> Tensor:
        """Heads are dimension 1 of q, k and v; others before the last two are carried along."""
        hidden = torch.tanh(q[..., :, None, :] + k[..., None, :, :])  # (batch, heads, ..., queries, keys, d_k)
        scores = torch.einsum("bh...d,hd->bh...", hidden, self.weight)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if seen is not None:
            seen.append(weights.detach())
        return weights @ v


class RestrictedAttention(nn.Module):
    """Self-attention to a neighbourhood of r positions centred around the own one: O(r n d)       §4, Table 1

    Each query has r keys and values of its own, so any attention function does the rest, as if for single queries.
    """

    def __init__(self, neighbourhood: int, function: AttentionFunction) -> None:
        super().__init__()
        self.each_side = neighbourhood // 2
        self.function = function

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, seen: Weights | None = None) -> Tensor:
        """Queries are the last of the positions that have keys: all of them, or the one that is decoded."""
        queries, keys = q.shape[2], k.shape[2]
        own = torch.arange(keys - queries, keys, device=q.device)[:, None]
        near = own + torch.arange(-self.each_side, self.each_side + 1, device=q.device)  # (queries, r)
        may = (near >= 0) & (near < keys)
        near = near.clamp(0, keys - 1)
        if mask is not None:
            every = mask.expand(*mask.shape[:-2], queries, keys)
            # The own position stays: in the padding there may be no other, and a softmax of nothing is not a number.
            may = may & (every[..., own - (keys - queries), near] | (near == own))
        around: Weights | None = None if seen is None else []
        # (batch, heads, queries, 1, d_k) attends to (batch, heads, queries, r, d_k)
        found = self.function(q[..., None, :], k[:, :, near], v[:, :, near], may[..., None, :], around)
        if seen is not None and around is not None:
            weights = q.new_zeros(*q.shape[:3], keys)
            seen.append(weights.scatter_add_(3, near.expand(*q.shape[:3], -1), around[0][..., 0, :]))
        return found[..., 0, :]


class UnprojectedAttention(MultiHeadAttention):
    """Heads attend to parts of the input itself: there are no W^Q, W^K, W^V, only W^O."""

    def __init__(self, d_model: int, heads: int, function: AttentionFunction) -> None:
        super().__init__(d_model, heads, d_model // heads, d_model // heads, function)
        self.w_q = self.w_k = self.w_v = nn.Identity()  # type: ignore[assignment]

    def _project(self, x: Tensor, *maps: nn.Module) -> list[Tensor]:
        return [x.unflatten(-1, (self.heads, -1)).transpose(1, 2) for _ in maps]


def multi_head(config: TransformerLayers, use: Literal["self", "cross"]) -> MultiHeadAttention:
    """The attention that the section describes; only self-attention is restricted to a neighbourhood."""
    function: AttentionFunction = fused_attention
    if config.attention == "dot-product":
        function = dot_product_attention
    elif config.attention == "additive":
        function = AdditiveAttention(config.heads, config.key_width)
    if config.neighbourhood and use == "self":
        function = RestrictedAttention(config.neighbourhood, function)
    if config.projections == "none":
        return UnprojectedAttention(config.d_model, config.heads, function)
    found = MultiHeadAttention(config.d_model, config.heads, config.key_width, config.value_width, function)
    if config.projections in ("query-key", "shared"):
        found.w_k = found.w_q
    if config.projections == "shared":
        found.w_v = found.w_q
    return found


class OtherSublayer(nn.Module):
    """A sublayer's end without the residual sum, or without LayerNorm: what `Residual` is compared with."""

    def __init__(self, config: TransformerLayers) -> None:
        super().__init__()
        self.kind, self.sum = config.norm, config.residual
        self.norm = nn.Identity() if config.norm == "none" else nn.LayerNorm(config.d_model)
        self.dropout = config.dropout

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        y = dropout(sublayer(self.norm(x) if self.kind == "pre" else x), self.dropout if self.training else 0.0)
        y = x + y if self.sum else y
        return self.norm(y) if self.kind == "post" else y


class NoSublayer(nn.Module):
    """The place of a sublayer that is left out."""

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return x


class NoPositions(Positions):
    """No encodings: without them the encoder cannot know the order of the words."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.d_model = d_model

    def forward(self, first: int, length: int) -> Tensor:
        return torch.zeros(length, self.d_model)

    def join(self, x: Tensor, first: int) -> Tensor:
        return x


class ConcatenatedPositions(Positions):
    """[x; p] W: W (2 d_model, d_model) brings both back to d_model. Adding them is W = [I; I], so this can do more."""

    def __init__(self, positions: Positions, d_model: int) -> None:
        super().__init__()
        self.positions = positions
        self.projection = nn.Linear(2 * d_model, d_model)

    def forward(self, first: int, length: int) -> Tensor:
        """(length, d_model): what the encodings add to an input."""
        encodings = self.positions(first, length)
        return linear(encodings, self.projection.weight[:, encodings.shape[1] :])

    def join(self, x: Tensor, first: int) -> Tensor:
        encodings = self.positions(first, x.shape[1]).expand_as(x)
        return self.projection(torch.cat([x, encodings], dim=-1))  # type: ignore[no-any-return]
