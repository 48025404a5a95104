"""BERT: the paper's encoder, trained to fill in words that were masked (Devlin et al. 2019, "BERT" below).

    input   = LayerNorm(E[token] + P[position])           learned positions; the LayerNorm is of its code    BERT, §3
    T       = the encoder of "Attention Is All You Need" (§3.1), with GELU for ReLU                     BERT, §3, A.2
    p(word) = softmax(E LayerNorm(gelu(W T_i + b)))       at the masked places alone                       BERT, §3.1

Every text begins with [CLS], whose state sums it up for a classifier (models/classifier.py). What BERT has and this has
not: two segments and the prediction of the next sentence, which later work found of no use (Liu et al. 2019).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn
from torch.nn.functional import gelu

from tongsa.config.architectures import MAX_LAYERS, TransformerLayers
from tongsa.config.complexity import Facts
from tongsa.config.sections import bounds
from tongsa.models.attention import Weights
from tongsa.models.classifier import Pooling, pooled
from tongsa.models.contracts import Encoder
from tongsa.models.dropout import dropout
from tongsa.models.embeddings import table
from tongsa.models.layers import EncoderLayer, embed, initialise, last_norm, over_keys, positions

SPECIAL_TOKENS = 2
"""Tokens that the model has between the pieces of a vocabulary and `<pad>`: [CLS] and [MASK]."""


@dataclass(frozen=True, kw_only=True)
class BertSection(TransformerLayers):
    """BERT; its paper's base model has 12 layers, d_model 768, d_ff 3072 and 12 heads."""

    architecture: Literal["bert"] = "bert"
    """Name of the architecture."""
    layers: int = 12
    """L, the paper's N."""
    activation: Literal["relu", "gelu", "swish"] = "gelu"
    """Activation between the two layers of the feed-forward network."""
    positions: Literal["sinusoidal", "learned", "none"] = "learned"
    """Learned embeddings of positions, the sinusoids of "Attention Is All You Need", or none."""
    max_positions: int = 512
    """Number of learned positions."""
    pooling: Pooling = "class"
    """What a classifier reads: the state of [CLS], as in the paper, or the mean of all states."""

    def facts(self, n: float) -> Facts:
        return Facts(kind=self.attention_kind(), layers=str(self.layers), d=self.d_model, decoder_path="–")

    def problems(self) -> list[str]:
        return super().problems() + bounds(self, layers=(1, MAX_LAYERS))


class Bert(Encoder):
    """The encoder and the softmax over masked words; `size` counts the pieces, [CLS], [MASK] and `<pad>`."""

    section = BertSection

    def __init__(self, config: BertSection, size: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = table(size, config.d_model)
        self.positions = positions(config)
        self.embedding_norm = nn.LayerNorm(config.d_model)  # not in "Attention Is All You Need"
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.norm = last_norm(config)
        self.transform = nn.Linear(config.d_model, config.d_model)  # of the authors' code, not in either paper
        self.transform_norm = nn.LayerNorm(config.d_model)
        self.max_length = config.longest
        self.apply(initialise)

    def encode(self, source: Tensor, mask: Tensor) -> Tensor:
        return self._encode(source, mask, None)

    def summary(self, states: Tensor, mask: Tensor) -> Tensor:
        return pooled(states, mask, self.config.pooling)

    def attend(self, source: Tensor, mask: Tensor) -> Weights:
        """The weights (batch, heads, positions, positions) of every layer."""
        seen: Weights = []
        self._encode(source, mask, seen)
        return seen

    def _encode(self, source: Tensor, mask: Tensor, seen: Weights | None) -> Tensor:
        x = self.embedding_norm(embed(self.config, self.embedding, self.positions, source, 0, 0.0))
        x = dropout(x, self.config.dropout if self.training else 0.0)
        keys = over_keys(mask)
        for layer in self.encoder:
            x = layer(x, keys, seen)
        return self.norm(x)  # type: ignore[no-any-return]

    def features(self, states: Tensor) -> Tensor:
        """(..., d_model): what the softmax over the words is taken of."""
        return self.transform_norm(gelu(self.transform(states)))  # type: ignore[no-any-return]

    def projection(self) -> Tensor:
        """(size, d_model): the embeddings once more (§3.4); the last row is that of `<pad>`."""
        return self.embedding.weight
