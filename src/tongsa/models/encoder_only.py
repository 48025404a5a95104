"""The paper's encoder alone: a state for each position, which sees all the others, as in BERT (Devlin et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn

from tongsa.config.architectures import MAX_LAYERS, TransformerLayers
from tongsa.config.complexity import Facts
from tongsa.config.sections import bounds
from tongsa.models.attention import Weights
from tongsa.models.contracts import Encoder
from tongsa.models.embeddings import table
from tongsa.models.layers import EncoderLayer, embed, initialise, last_norm, over_keys, positions


@dataclass(frozen=True, kw_only=True)
class EncoderOnlySection(TransformerLayers):
    """A stack of the paper's encoder layers."""

    architecture: Literal["encoder-only"] = "encoder-only"
    """Name of the architecture."""
    layers: int = 6
    """N (§3.1)."""

    def facts(self, n: float) -> Facts:
        return Facts(kind=self.attention_kind(), layers=str(self.layers), d=self.d_model, decoder_path="–")

    def problems(self) -> list[str]:
        return super().problems() + bounds(self, layers=(1, MAX_LAYERS))


class EncoderOnly(Encoder):
    """Embeddings and positions (§3.4, §3.5), then the encoder of §3.1."""

    section = EncoderOnlySection

    def __init__(self, config: EncoderOnlySection, size: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = table(size, config.d_model)
        self.positions = positions(config)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.norm = last_norm(config)
        self.max_length = config.longest
        self.apply(initialise)

    def encode(self, source: Tensor, mask: Tensor) -> Tensor:
        return self._encode(source, mask, None)

    def attend(self, source: Tensor, mask: Tensor) -> Weights:
        """The weights (batch, heads, positions, positions) of every layer."""
        seen: Weights = []
        self._encode(source, mask, seen)
        return seen

    def _encode(self, source: Tensor, mask: Tensor, seen: Weights | None) -> Tensor:
        p = self.config.dropout if self.training else 0.0
        x = embed(self.config, self.embedding, self.positions, source, 0, p)
        keys = over_keys(mask)
        for layer in self.encoder:
            x = layer(x, keys, seen)
        return self.norm(x)  # type: ignore[no-any-return]
