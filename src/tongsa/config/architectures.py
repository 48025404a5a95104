"""The [model] section: a class an architecture, in the letters of its paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tongsa.config.bounds import bounds


@dataclass(frozen=True, kw_only=True)
class ModelSection:
    """What every architecture has; each architecture adds its own keys."""

    architecture: str = "transformer"
    """The name of the architecture (see tongsa.models)."""
    d_model: int = 512
    """Width of embeddings and hidden states."""
    dropout: float = 0.1
    """P_drop (§5.4)."""

    def problems(self) -> list[str]:
        return bounds(self, at_least_1=["d_model"], fractions=["dropout"])


@dataclass(frozen=True, kw_only=True)
class TransformerSection(ModelSection):
    """The Transformer, in the letters of Table 3."""

    encoder_layers: int = 6
    """N of the encoder (§3.1)."""
    decoder_layers: int = 6
    """N of the decoder (§3.1)."""
    d_ff: int = 2048
    """Inner width of the feed-forward networks (§3.3)."""
    heads: int = 8
    """h, the parallel attention heads (§3.2.2)."""
    d_k: int = 0
    """Width of queries and keys of a head (0: d_model / heads)."""
    d_v: int = 0
    """Width of the values of a head (0: d_model / heads)."""
    norm: Literal["post", "pre"] = "post"
    """LayerNorm after each residual sum, as in the paper, or before each sublayer."""
    activation: Literal["relu", "gelu", "swish"] = "relu"
    """Between the two layers of the feed-forward network (Eq. 2 has ReLU)."""
    positions: Literal["sinusoidal", "learned"] = "sinusoidal"
    """Position encodings (§3.5), or learned embeddings (Table 3, row E)."""
    max_positions: int = 1024
    """Learned positions there are; sinusoids go on for ever."""
    tied: bool = True
    """One matrix for both embeddings and the output (§3.4); without a joint vocabulary: the decoder's two."""
    output_bias: bool = False
    """A bias on the logits: the paper has none, models imported from Marian do."""

    @property
    def key_width(self) -> int:
        return self.d_k or self.d_model // self.heads

    @property
    def value_width(self) -> int:
        return self.d_v or self.d_model // self.heads

    def problems(self) -> list[str]:
        whole = ["encoder_layers", "decoder_layers", "d_ff", "heads", "max_positions"]
        found = super().problems() + bounds(self, at_least_1=whole, at_least_0=["d_k", "d_v"])
        if self.d_model % 2:
            found.append(f"d_model is {self.d_model}; sines and cosines need an even number")
        if self.heads > 0 and self.d_model % self.heads and not (self.d_k and self.d_v):
            found.append(f"d_model {self.d_model} is no multiple of heads {self.heads}; give d_k and d_v of their own")
        return found


ARCHITECTURES: dict[str, type[ModelSection]] = {
    "transformer": TransformerSection,
}
"""The keys of each architecture."""
