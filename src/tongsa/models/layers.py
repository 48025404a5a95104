"""The layers of encoder and decoder (§3.1), and their parts."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from tongsa.config.architectures import TransformerLayers
from tongsa.models.attention import KeysValues, Weights
from tongsa.models.dropout import dropout, dropout_add, dropout_add_norm
from tongsa.models.embeddings import LearnedPositions, Positions, SinusoidalPositions
from tongsa.models.experts import MixtureOfExperts
from tongsa.models.variants import (
    AdditiveAttention,
    ConcatenatedPositions,
    NoPositions,
    NoSublayer,
    OtherSublayer,
    multi_head,
)

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

    def __init__(self, config: TransformerLayers) -> None:
        super().__init__()
        self.pre = config.norm == "pre"
        self.norm = nn.LayerNorm(config.d_model)
        self.dropout = config.dropout

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        p = self.dropout if self.training else 0.0
        if self.pre:
            return dropout_add(x, sublayer(self.norm(x)), p)
        return dropout_add_norm(x, sublayer(x), self.norm, p)


def feed_forward(config: TransformerLayers) -> nn.Module:
    if config.feed_forward == "none":
        return nn.Identity()  # its sublayer is left out: see `residuals`
    count = config.experts if config.feed_forward == "experts" else 1
    networks: list[nn.Module] = [FeedForward(config.d_model, config.d_ff, config.activation) for _ in range(count)]
    if config.feed_forward == "experts":
        return MixtureOfExperts(networks, config.d_model, config.experts_used)
    return networks[0]


def residuals(config: TransformerLayers, sublayers: int) -> nn.ModuleList:
    """The ends of a layer's sublayers, of which the last is the feed-forward network."""
    kind = Residual if config.residual and config.norm != "none" else OtherSublayer
    found: list[nn.Module] = [kind(config) for _ in range(sublayers)]
    if config.feed_forward == "none":
        found[-1] = NoSublayer()
    return nn.ModuleList(found)


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network."""

    def __init__(self, config: TransformerLayers) -> None:
        super().__init__()
        self.self_attention = multi_head(config, "self")
        self.feed_forward = feed_forward(config)
        self.residuals = residuals(config, 2)

    def forward(self, x: Tensor, mask: Tensor | None, seen: Weights | None = None) -> Tensor:
        x = self.residuals[0](x, lambda x: self.self_attention(x, x, mask, seen))
        return self.residuals[1](x, self.feed_forward)  # type: ignore[no-any-return]


class CausalLayer(EncoderLayer):
    """Masked self-attention, then the feed-forward network: a decoder's layer where there is no encoder to attend to.

    Its `forward` is given the causal mask.
    """

    def step(self, x: Tensor, past: KeysValues) -> tuple[Tensor, KeysValues]:
        """One position (batch, 1, d_model), given the keys and values of those before it; returns them with its own."""
        grown = past

        def attend_back(x: Tensor) -> Tensor:
            nonlocal grown
            x, grown = self.self_attention.step(x, past)
            return x

        x = self.residuals[0](x, attend_back)
        return self.residuals[1](x, self.feed_forward), grown


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's output, then the feed-forward network."""

    def __init__(self, config: TransformerLayers) -> None:
        super().__init__()
        self.self_attention = multi_head(config, "self")
        self.cross_attention = multi_head(config, "cross")
        self.feed_forward = feed_forward(config)
        self.residuals = residuals(config, 3)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        causal: Tensor | None,
        source_mask: Tensor | None,
        seen: tuple[Weights, Weights] | tuple[None, None] = (None, None),
    ) -> Tensor:
        """`causal` lets a position attend to itself and to what is before it."""
        x = self.residuals[0](x, lambda x: self.self_attention(x, x, causal, seen[0]))
        x = self.residuals[1](x, lambda x: self.cross_attention(x, memory, source_mask, seen[1]))
        return self.residuals[2](x, self.feed_forward)  # type: ignore[no-any-return]

    def step(self, x: Tensor, past: KeysValues, memory: KeysValues, source_mask: Tensor) -> tuple[Tensor, KeysValues]:
        """One position (batch, 1, d_model), given the keys and values of those before it; returns them with its own."""
        grown = past

        def attend_back(x: Tensor) -> Tensor:
            nonlocal grown
            x, grown = self.self_attention.step(x, past)
            return x

        def attend_across(x: Tensor) -> Tensor:
            return self.cross_attention.attend(self.cross_attention.queries(x), *memory, source_mask)

        x = self.residuals[0](x, attend_back)
        x = self.residuals[1](x, attend_across)
        return self.residuals[2](x, self.feed_forward), grown


def embed(
    config: TransformerLayers, embedding: nn.Embedding, positions: Positions, tokens: Tensor, first: int, p: float
) -> Tensor:
    """Embeddings times sqrt(d_model) (§3.4), plus the encodings of positions from `first` on (§3.5), with dropout p on
    the sum (§5.4)."""
    x = embedding(tokens)
    x = x * math.sqrt(config.d_model) if config.scale_embeddings else x
    return dropout(positions.join(x, first), p)


def no_positions_yet(config: TransformerLayers, rows: int, like: Tensor) -> KeysValues:
    """The keys and values before the first step of a layer."""
    return (
        like.new_zeros(rows, config.heads, 0, config.key_width),
        like.new_zeros(rows, config.heads, 0, config.value_width),
    )


def over_keys(mask: Tensor) -> Tensor | None:
    """(batch, 1, 1, keys), or None if nothing is masked, as in most batches, whose sentences have one length."""
    return None if bool(mask.all()) else mask[:, None, None, :]


def positions(config: TransformerLayers) -> Positions:
    if config.positions == "none":
        return NoPositions(config.d_model)
    found: Positions = (
        LearnedPositions(config.d_model, config.max_positions)
        if config.positions == "learned"
        else SinusoidalPositions(config.d_model)
    )
    return ConcatenatedPositions(found, config.d_model) if config.join_positions == "concatenate" else found


def last_norm(config: TransformerLayers) -> nn.Module:
    """Layers that normalise their inputs leave the last sum as it is; layers of the paper do not."""
    return nn.LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()


def initialise(module: nn.Module) -> None:
    """Glorot for the matrices; embeddings so that sqrt(d_model) brings them to the size of the positions."""
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)
    elif isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
        with torch.no_grad():
            module.weight[-1].zero_()
    elif isinstance(module, LearnedPositions | AdditiveAttention):
        nn.init.normal_(module.weight, std=module.weight.shape[1] ** -0.5)
