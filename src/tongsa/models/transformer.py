"""The Transformer of "Attention Is All You Need" (arXiv 1706.03762). Section numbers are the paper's."""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn

from tongsa.config import TransformerSection
from tongsa.models.contracts import Attention, Seq2Seq, State, Tree
from tongsa.models.dropout import dropout
from tongsa.models.layers import DecoderLayer, EncoderLayer, KeysValues
from tongsa.models.positions import LearnedPositions, SinusoidalPositions
from tongsa.models.tables import tables

Memory = tuple[Tensor, Tensor]
"""The encoder's output (batch, source, d_model) and the source mask (batch, source)."""


class Transformer(Seq2Seq):
    """Encoder and decoder stacks (§3.1) between embeddings and a softmax (§3.4)."""

    def __init__(self, config: TransformerSection, source_size: int, target_size: int | None = None) -> None:
        super().__init__()
        self.config = config
        self.source_embedding, self.target_embedding, self.output = tables(
            source_size, target_size, config.d_model, config.tied
        )
        self.output_bias = nn.Parameter(torch.zeros(len(self.output.weight))) if config.output_bias else None
        self.source_positions = _positions(config)
        self.target_positions = _positions(config)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        # Layers that normalise their inputs leave the last sum as it is; layers of the paper do not.
        last = nn.LayerNorm if config.norm == "pre" else nn.Identity
        self.encoder_norm = last(config.d_model)
        self.decoder_norm = last(config.d_model)
        self.max_length = config.max_positions if config.positions == "learned" else None
        self.apply(_initialise)

    def encode(self, source: Tensor, source_mask: Tensor) -> Memory:
        return self._encode(source, source_mask), source_mask

    def _encode(self, source: Tensor, source_mask: Tensor, seen: list[Tensor] | None = None) -> Tensor:
        x = self._embed(self.source_embedding, self.source_positions, source, 0)
        mask = _over_keys(source_mask)
        for layer in self.encoder:
            x = layer(x, mask, seen)
        return self.encoder_norm(x)  # type: ignore[no-any-return]

    def features(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
        return self._with_one(self._decode(self._encode(source, source_mask), source_mask, target, (None, None)))

    def _decode(
        self,
        memory: Tensor,
        source_mask: Tensor,
        target: Tensor,
        seen: tuple[list[Tensor], list[Tensor]] | tuple[None, None],
    ) -> Tensor:
        x = self._embed(self.target_embedding, self.target_positions, target, 0)
        mask, back = _over_keys(source_mask), look_back(target.shape[1], target.device)
        for layer in self.decoder:
            x = layer(x, memory, back, mask, seen)
        return self.decoder_norm(x)  # type: ignore[no-any-return]

    def start(self, memory: Tree) -> State:
        encoded, source_mask = cast(Memory, memory)
        config, rows = self.config, len(encoded)
        across = tuple(layer.cross_attention.keys_values(encoded) for layer in self._decoder_layers())
        none = (
            encoded.new_zeros(rows, config.heads, 0, config.key_width),
            encoded.new_zeros(rows, config.heads, 0, config.value_width),
        )
        return State(memory=(source_mask, across), cache=tuple(none for _ in self.decoder))

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        source_mask, across = cast(tuple[Tensor, tuple[KeysValues, ...]], state.memory)
        cache = cast(tuple[KeysValues, ...], state.cache)
        position = cache[0][0].shape[2]
        x = self._embed(self.target_embedding, self.target_positions, tokens[:, None], position)
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

    def position_table(self, length: int) -> Tensor:
        return self.source_positions(0, length)  # type: ignore[no-any-return]

    def projection(self) -> Tensor:
        if self.output_bias is None:
            return self.output.weight
        return torch.cat([self.output.weight, self.output_bias[:, None]], dim=1)

    def _with_one(self, x: Tensor) -> Tensor:
        """A bias is one more column of the projection, met by a feature that is always 1."""
        return x if self.output_bias is None else torch.cat([x, x.new_ones(*x.shape[:-1], 1)], dim=-1)

    def _embed(self, embedding: nn.Embedding, positions: nn.Module, tokens: Tensor, first: int) -> Tensor:
        """Embeddings times sqrt(d_model) (§3.4), plus positions (§3.5), with dropout on the sum (§5.4)."""
        x = embedding(tokens) * math.sqrt(self.config.d_model) + positions(first, tokens.shape[1])
        return dropout(x, self.config.dropout if self.training else 0.0)

    def _decoder_layers(self) -> list[DecoderLayer]:
        return cast(list[DecoderLayer], list(self.decoder))


def look_back(length: int, device: torch.device) -> Tensor:
    """(length, length): True where position i (row) may look at position j <= i (§3.2.3)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def _over_keys(mask: Tensor) -> Tensor | None:
    """(batch, 1, 1, keys), or None where nothing is masked: most batches hold sentences of one length."""
    return None if bool(mask.all()) else mask[:, None, None, :]


def _positions(config: TransformerSection) -> nn.Module:
    if config.positions == "learned":
        return LearnedPositions(config.d_model, config.max_positions)
    return SinusoidalPositions(config.d_model)


def _initialise(module: nn.Module) -> None:
    """Glorot for the matrices; embeddings so that sqrt(d_model) brings them to the size of the positions."""
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)
    elif isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
        with torch.no_grad():
            module.weight[-1].zero_()
    elif isinstance(module, LearnedPositions):
        nn.init.normal_(module.weight, std=module.weight.shape[1] ** -0.5)
