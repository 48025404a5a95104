"""The Transformer of "Attention Is All You Need" (arXiv 1706.03762). Section numbers are the paper's."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from tongsa.config import TransformerSection
from tongsa.models.attention import KeysValues
from tongsa.models.contracts import (
    Attention,
    LayerOutputs,
    Seq2Seq,
    State,
    Tree,
    causal_mask,
    layer_outputs,
)
from tongsa.models.embeddings import Positions, tables
from tongsa.models.layers import (
    DecoderLayer,
    EncoderLayer,
    embed,
    initialise,
    last_norm,
    no_positions_yet,
    over_keys,
    positions,
)

Memory = tuple[Tensor, Tensor]
"""The encoder's output (batch, source, d_model) and the source mask (batch, source)."""


class Transformer(Seq2Seq):
    """Encoder and decoder stacks (§3.1) between embeddings and a softmax (§3.4)."""

    section = TransformerSection

    def __init__(self, config: TransformerSection, source_size: int, target_size: int | None = None) -> None:
        super().__init__()
        self.config = config
        self.source_embedding, self.target_embedding, self.output = tables(
            source_size, target_size, config.d_model, config.tied
        )
        self.output_bias = nn.Parameter(torch.zeros(len(self.output.weight))) if config.output_bias else None
        self.source_positions = positions(config)
        self.target_positions = positions(config)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.encoder_norm = last_norm(config)
        self.decoder_norm = last_norm(config)
        self.max_length = config.longest
        self.apply(initialise)

    def encode(self, source: Tensor, source_mask: Tensor) -> Tree:
        return self._encode(source, source_mask), source_mask

    def _encode(self, source: Tensor, source_mask: Tensor, seen: list[Tensor] | None = None) -> Tensor:
        x = self._embed(self.source_embedding, self.source_positions, source, 0)
        mask = over_keys(source_mask)
        for layer in self.encoder:
            x = layer(x, mask, seen)
        return self.encoder_norm(x)  # type: ignore[no-any-return]

    def features(self, memory: Tree, target: Tensor) -> Tensor:
        encoded, source_mask = cast(Memory, memory)
        return self._with_one(self._decode(encoded, source_mask, target, (None, None)))

    def _decode(
        self,
        memory: Tensor,
        source_mask: Tensor,
        target: Tensor,
        seen: tuple[list[Tensor], list[Tensor]] | tuple[None, None],
        shown: Tensor | None = None,
    ) -> Tensor:
        """`shown` is added to the decoder's input, for models that show it more than what has been written."""
        x = self._embed(self.target_embedding, self.target_positions, target, 0)
        x = x if shown is None else x + shown
        mask, causal = over_keys(source_mask), self._target_mask(target)
        for layer in self.decoder:
            x = layer(x, memory, causal, mask, seen)
        return self.decoder_norm(x)  # type: ignore[no-any-return]

    def start(self, memory: Tree) -> State:
        encoded, source_mask = cast(Memory, memory)
        across = tuple(layer.cross_attention.keys_values(encoded) for layer in self._decoder_layers())
        none = no_positions_yet(self.config, len(encoded), encoded)
        return State(memory=(source_mask, across), cache=tuple(none for _ in self.decoder))

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        return self._step(tokens, state)

    def _step(self, tokens: Tensor, state: State, shown: Tensor | None = None) -> tuple[Tensor, State]:
        source_mask, across = cast(tuple[Tensor, tuple[KeysValues, ...]], state.memory)
        cache = cast(tuple[KeysValues, ...], state.cache)
        position = cache[0][0].shape[2]
        x = self._embed(self.target_embedding, self.target_positions, tokens[:, None], position)
        x = x if shown is None else x + shown
        grown = []
        for layer, past, memory in zip(self._decoder_layers(), cache, across, strict=True):
            x, kept = layer.step(x, past, memory, source_mask[:, None, None, :])
            grown.append(kept)
        return self.project(self._with_one(self.decoder_norm(x)[:, 0])), State(state.memory, tuple(grown))

    def attend(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Attention:
        seen = Attention(encoder=[], decoder=[], cross=[])
        memory = self._encode(source, source_mask, seen.encoder)
        self._decode(memory, source_mask, target, (seen.decoder, seen.cross))
        return seen

    def outputs(self, source: Tensor, source_mask: Tensor, target: Tensor) -> LayerOutputs:
        with layer_outputs(self.encoder) as encoder, layer_outputs(self.decoder) as decoder:
            self.features(self.encode(source, source_mask), target)
        return LayerOutputs(encoder=encoder, decoder=decoder)

    def position_table(self, length: int) -> Tensor | None:
        return None if self.config.positions == "none" else self.source_positions(0, length)

    def projection(self) -> Tensor:
        if self.output_bias is None:
            return self.output.weight
        return torch.cat([self.output.weight, self.output_bias[:, None]], dim=1)

    def _with_one(self, x: Tensor) -> Tensor:
        """A bias is one more column of the projection, met by a feature that is always 1."""
        return x if self.output_bias is None else torch.cat([x, x.new_ones(*x.shape[:-1], 1)], dim=-1)

    def _embed(self, embedding: nn.Embedding, positions: Positions, tokens: Tensor, first: int) -> Tensor:
        return embed(self.config, embedding, positions, tokens, first, self.config.dropout if self.training else 0.0)

    def _target_mask(self, target: Tensor) -> Tensor:
        """Positions attend to themselves and to what is before them (§3.2.3), if the decoder is masked."""
        if self.config.causal:
            return causal_mask(target.shape[1], target.device)
        tokens = target != self.target_embedding.num_embeddings - 1
        tokens[:, 0] = True  # the first `<pad>` is not padding: the decoder starts from it
        return tokens[:, None, None, :]

    def _decoder_layers(self) -> list[DecoderLayer]:
        return cast(list[DecoderLayer], list(self.decoder))
