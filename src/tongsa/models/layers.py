"""The layers of encoder and decoder (§3.1), and what they are made of."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from tongsa.config import TransformerSection
from tongsa.models.attention import MultiHeadAttention, Weights
from tongsa.models.dropout import dropout_add, dropout_add_norm

KeysValues = tuple[Tensor, Tensor]
"""Keys and values of one attention: (batch, heads, positions, d_k), (batch, heads, positions, d_v)."""

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "gelu": nn.GELU, "swish": nn.SiLU}


class FeedForward(nn.Module):
    """FFN(x) = max(0, xW_1 + b_1) W_2 + b_2                                                       §3.3, Eq. 2"""

    def __init__(self, d_model: int, d_ff: int, activation: str) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(d_model, d_ff)
        self.linear_2 = nn.Linear(d_ff, d_model)
        self.activation = ACTIVATIONS[activation]()

    def forward(self, x: Tensor) -> Tensor:
        return self.linear_2(self.activation(self.linear_1(x)))  # type: ignore[no-any-return]


class Residual(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x)))                                                         §3.1, §5.4

    With `norm = "pre"` it is x + Dropout(Sublayer(LayerNorm(x))): not the paper's, but steadier in deep stacks.
    """

    def __init__(self, config: TransformerSection) -> None:
        super().__init__()
        self.pre = config.norm == "pre"
        self.norm = nn.LayerNorm(config.d_model)
        self.dropout = config.dropout

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        p = self.dropout if self.training else 0.0
        if self.pre:
            return dropout_add(x, sublayer(self.norm(x)), p)
        return dropout_add_norm(x, sublayer(x), self.norm, p)


def multi_head(config: TransformerSection) -> MultiHeadAttention:
    return MultiHeadAttention(config.d_model, config.heads, config.key_width, config.value_width)


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network."""

    def __init__(self, config: TransformerSection) -> None:
        super().__init__()
        self.self_attention = multi_head(config)
        self.feed_forward = FeedForward(config.d_model, config.d_ff, config.activation)
        self.residuals = nn.ModuleList(Residual(config) for _ in range(2))

    def forward(self, x: Tensor, mask: Tensor | None, seen: Weights | None = None) -> Tensor:
        x = self.residuals[0](x, lambda x: self.self_attention(x, x, mask, seen))
        return self.residuals[1](x, self.feed_forward)  # type: ignore[no-any-return]


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's output, then the feed-forward network."""

    def __init__(self, config: TransformerSection) -> None:
        super().__init__()
        self.self_attention = multi_head(config)
        self.cross_attention = multi_head(config)
        self.feed_forward = FeedForward(config.d_model, config.d_ff, config.activation)
        self.residuals = nn.ModuleList(Residual(config) for _ in range(3))

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        back: Tensor,
        source_mask: Tensor | None,
        seen: tuple[Weights, Weights] | tuple[None, None] = (None, None),
    ) -> Tensor:
        """`back` lets a position look at itself and at what is before it."""
        x = self.residuals[0](x, lambda x: self.self_attention(x, x, back, seen[0]))
        x = self.residuals[1](x, lambda x: self.cross_attention(x, memory, source_mask, seen[1]))
        return self.residuals[2](x, self.feed_forward)  # type: ignore[no-any-return]

    def step(self, x: Tensor, past: KeysValues, memory: KeysValues, source_mask: Tensor) -> tuple[Tensor, KeysValues]:
        """One position (batch, 1, d_model), given the keys and values of those before it; returns them with its own."""
        grown: KeysValues = past

        def look_back(x: Tensor) -> Tensor:
            nonlocal grown
            queries, keys, values = self.self_attention.queries_keys_values(x)
            grown = (torch.cat([past[0], keys], dim=2), torch.cat([past[1], values], dim=2))
            return self.self_attention.look(queries, *grown, None)

        def look_across(x: Tensor) -> Tensor:
            return self.cross_attention.look(self.cross_attention.queries(x), *memory, source_mask)

        x = self.residuals[0](x, look_back)
        x = self.residuals[1](x, look_across)
        return self.residuals[2](x, self.feed_forward), grown
