"""The paper's decoder alone: a causal language model, as in GPT (Radford et al. 2018).

A layer is masked self-attention and the feed-forward network; with no encoder, there is nothing to attend across to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from torch import Tensor, nn

from tongsa.config.architectures import MAX_LAYERS, TransformerLayers
from tongsa.config.complexity import Facts
from tongsa.config.sections import bounds
from tongsa.models.attention import KeysValues, Weights
from tongsa.models.contracts import NO_MEMORY, Decoder, State, Tree, causal_mask
from tongsa.models.embeddings import table
from tongsa.models.layers import CausalLayer, embed, initialise, last_norm, no_positions_yet, positions


@dataclass(frozen=True, kw_only=True)
class DecoderOnlySection(TransformerLayers):
    """A stack of the paper's decoder layers without attention to an encoder."""

    architecture: Literal["decoder-only"] = "decoder-only"
    """Name of the architecture."""
    layers: int = 6
    """N (§3.1)."""
    tied: bool = True
    """One matrix for the embeddings and the output (§3.4)."""

    def facts(self, n: float) -> Facts:
        return Facts(kind=self.attention_kind(), layers=str(self.layers), d=self.d_model, decoder_path="–")

    def problems(self) -> list[str]:
        return super().problems() + bounds(self, layers=(1, MAX_LAYERS))


class DecoderOnly(Decoder):
    """p(y_t | y_1 .. y_(t-1)) = softmax of a linear map of the last layer's state at position t - 1."""

    section = DecoderOnlySection

    def __init__(self, config: DecoderOnlySection, size: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = table(size, config.d_model)
        self.output = self.embedding if config.tied else table(size, config.d_model)
        self.positions = positions(config)
        self.decoder = nn.ModuleList(CausalLayer(config) for _ in range(config.layers))
        self.norm = last_norm(config)
        self.max_length = config.longest
        self.apply(initialise)

    def features(self, memory: Tree, target: Tensor) -> Tensor:
        return self._decode(target, None)

    def attend(self, target: Tensor) -> Weights:
        """The weights (batch, heads, positions, positions) of every layer while this target is read."""
        seen: Weights = []
        self._decode(target, seen)
        return seen

    def _decode(self, target: Tensor, seen: Weights | None) -> Tensor:
        x = self._embed(target, 0)
        causal = causal_mask(target.shape[1], target.device)
        for layer in self.decoder:
            x = layer(x, causal, seen)
        return self.norm(x)  # type: ignore[no-any-return]

    def start(self, memory: Tree) -> State:
        """Return an empty cache: the number of rows is known only in the first step."""
        return State(memory=NO_MEMORY, cache=())

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        cache = cast(tuple[KeysValues, ...], state.cache)
        if not cache:
            none = no_positions_yet(self.config, len(tokens), self.output.weight)
            cache = tuple(none for _ in self.decoder)
        x = self._embed(tokens[:, None], cache[0][0].shape[2])
        grown = []
        for layer, past in zip(cast(list[CausalLayer], list(self.decoder)), cache, strict=True):
            x, kept = layer.step(x, past)
            grown.append(kept)
        return self.project(self.norm(x)[:, 0]), State(state.memory, tuple(grown))

    def projection(self) -> Tensor:
        return self.output.weight

    def _embed(self, tokens: Tensor, first: int) -> Tensor:
        p = self.config.dropout if self.training else 0.0
        return embed(self.config, self.embedding, self.positions, tokens, first, p)
