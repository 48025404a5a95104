"""What an architecture promises: search and training know nothing else of a model.

    Decoder     writes a token a step: a language model
    Seq2Seq     a Decoder that reads a source first: everything that translates
    Encoder     reads, and gives a state for each position

Search knows only `start` and `step`, training only `features` and `projection`; so every architecture is trained,
searched and scored by the very same code. State is passed in and returned, never kept on the module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from tongsa.config import ModelSection

Tree = Tensor | tuple["Tree", ...]
"""Tensors whose first dimension is the batch, in nested tuples."""

NO_MEMORY: Tree = ()
"""What a decoder without a source gets instead of the encoder's output."""


class State(NamedTuple):
    """What a decoder knows between two steps."""

    memory: Tree
    """From the encoder: the same for every hypothesis of a sentence, and never changed by a step. Empty without one."""
    cache: Tree
    """From the steps so far."""


@dataclass(frozen=True)
class Attention:
    """Attention weights (batch, heads, queries, keys), one tensor a layer; a model has the kinds that it has."""

    encoder: list[Tensor]
    """Source looking at source."""
    decoder: list[Tensor]
    """Target looking at target."""
    cross: list[Tensor]
    """Target looking at source."""


DEEP = 6
"""Layers from which on a decoder no longer aligns in its last layer."""


def aligning_layer(layers: int) -> int:
    """The layer of a decoder that attends to the source of the word it writes: the last one; of six or more the last
    but one, as Garg et al. 2019 found and docs/attention.md measures."""
    return layers - 1 if layers < DEEP else layers - 2


class Decoder(nn.Module, ABC):
    """A model that writes a token a step, made as Model(section, size of the vocabulary)."""

    section: ClassVar[type[ModelSection]]
    """The [model] section of a recipe that describes such a model."""

    max_length: int | None = None
    """Longest sequence that it can take, where it has such a limit."""

    @abstractmethod
    def start(self, memory: Tree) -> State:
        """The state before the first step."""

    @abstractmethod
    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Logits (batch, vocabulary) after these tokens (batch), the first of which is `<pad>`."""

    @abstractmethod
    def features(self, memory: Tree, target: Tensor) -> Tensor:
        """Teacher forcing: what is projected to logits after each of the target's tokens (batch, steps, width)."""

    @abstractmethod
    def projection(self) -> Tensor:
        """The last linear map (vocabulary + 1, width); its last row is that of `<pad>`, which is never written."""

    def project(self, features: Tensor) -> Tensor:
        return nn.functional.linear(features, self.projection()[:-1])


class Seq2Seq(Decoder):
    """A model that reads a source and writes a target, made as Model(section, source size, target size or None).

    Sizes count the pieces and `<pad>`; no target size means a joint vocabulary.
    """

    @abstractmethod
    def encode(self, source: Tensor, source_mask: Tensor) -> Tree:
        """Read the source (batch, positions); the mask is True where there is a token."""

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
        """Logits (batch, steps, vocabulary) of all steps at once; `target` begins with `<pad>`."""
        return self.project(self.features(self.encode(source, source_mask), target))

    def attend(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Attention:
        """Attention weights for this pair; an architecture that attends overrides it."""
        return Attention(encoder=[], decoder=[], cross=[])

    def position_table(self, length: int) -> Tensor | None:
        """What tells the first positions apart (positions, width), for pictures; None where nothing is added."""
        return None


class Encoder(nn.Module, ABC):
    """A model that gives a state for each position of what it reads, made as Model(section, size of the vocabulary)."""

    section: ClassVar[type[ModelSection]]
    """The [model] section of a recipe that describes such a model."""

    max_length: int | None = None
    """Longest sequence that it can take, where it has such a limit."""

    @abstractmethod
    def encode(self, source: Tensor, mask: Tensor) -> Tensor:
        """(batch, positions) -> (batch, positions, width); the mask is True where there is a token."""


def select(tree: Tree, rows: Tensor) -> Tree:
    """The rows of every tensor of a tree."""
    if isinstance(tree, Tensor):
        return tree.index_select(0, rows)
    return tuple(select(branch, rows) for branch in tree)


def repeat(tree: Tree, times: int) -> Tree:
    """Every row of every tensor, `times` times over, one after the other."""
    if isinstance(tree, Tensor):
        return tree.repeat_interleave(times, dim=0)
    return tuple(repeat(branch, times) for branch in tree)


def causal_mask(length: int, device: torch.device) -> Tensor:
    """(length, length): True where position i (row) may attend to position j <= i (§3.2.3)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def token_mask(lengths: Tensor, width: int) -> Tensor:
    """(batch, width): True at the first `lengths` positions of each row."""
    return torch.arange(width, device=lengths.device) < lengths[:, None]
