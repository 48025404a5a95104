"""The contracts of models, which are all that search and training rely on.

    Decoder     writes one token per step: a language model
    Seq2Seq     a Decoder that reads a source first: everything that translates
    Encoder     reads, and returns a state for each position

Search uses only `start` and `step`, training only `features` and `projection`, so the same code trains, searches and
scores every architecture. State is passed in and returned, never kept on the module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from tongsa.config import ModelSection

Tree = Tensor | tuple["Tree", ...]
"""Tensors whose first dimension is the batch, in nested tuples."""

NO_MEMORY: Tree = ()
"""Replaces the encoder's output for a decoder without a source."""


class State(NamedTuple):
    """State of a decoder between two steps."""

    memory: Tree
    """Encoder output: shared by all hypotheses of a sentence, and never changed by a step. Empty without an encoder."""
    cache: Tree
    """State from the steps so far."""


@dataclass(frozen=True)
class Attention:
    """Attention weights (batch, heads, queries, keys), one tensor per layer; empty for kinds that a model lacks."""

    encoder: list[Tensor]
    """Source attending to source."""
    decoder: list[Tensor]
    """Target attending to target."""
    cross: list[Tensor]
    """Target attending to source."""


@dataclass(frozen=True)
class LayerOutputs:
    """What each layer returned (batch, positions, d_model); first what the first layer was given: the embeddings."""

    encoder: list[Tensor]
    decoder: list[Tensor]


class Decoder(nn.Module, ABC):
    """A model that writes one token per step, constructed as Model(section, size of the vocabulary)."""

    section: ClassVar[type[ModelSection]]
    """The [model] section of a recipe that describes such a model."""

    max_length: int | None = None
    """Longest sequence that it can take, where it has such a limit."""

    @abstractmethod
    def start(self, memory: Tree) -> State:
        """Return the state before the first step."""

    @abstractmethod
    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Return logits (batch, vocabulary) after these tokens (batch), the first of which is `<pad>`."""

    @abstractmethod
    def features(self, memory: Tree, target: Tensor) -> Tensor:
        """Teacher forcing: return the features (batch, steps, width) to project to logits after each target token."""

    @abstractmethod
    def projection(self) -> Tensor:
        """The last linear map (vocabulary + 1, width); its last row is that of `<pad>`, which is never written."""

    def project(self, features: Tensor) -> Tensor:
        return nn.functional.linear(features, self.projection()[:-1])


class Seq2Seq(Decoder):
    """A model that reads a source and writes a target, constructed as Model(section, source size, target size or None).

    Sizes count the pieces and `<pad>`; no target size means a joint vocabulary.
    """

    @abstractmethod
    def encode(self, source: Tensor, source_mask: Tensor) -> Tree:
        """Read the source (batch, positions); the mask is True where there is a token."""

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
        """Logits (batch, steps, vocabulary) of all steps at once; `target` begins with `<pad>`."""
        return self.project(self.features(self.encode(source, source_mask), target))

    def attend(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Attention:
        """Return the attention weights for this pair; architectures with attention override this."""
        return Attention(encoder=[], decoder=[], cross=[])

    def outputs(self, source: Tensor, source_mask: Tensor, target: Tensor) -> LayerOutputs:
        """Return what every layer computes for this pair; architectures of such layers override this."""
        return LayerOutputs(encoder=[], decoder=[])

    def position_table(self, length: int) -> Tensor | None:
        """Return the encodings of the first positions (positions, width), for pictures; None if there are none."""
        return None


class Encoder(nn.Module, ABC):
    """A model that returns a state for each position, constructed as Model(section, size of the vocabulary)."""

    section: ClassVar[type[ModelSection]]
    """The [model] section of a recipe that describes such a model."""

    max_length: int | None = None
    """Longest sequence that it can take, where it has such a limit."""

    @abstractmethod
    def encode(self, source: Tensor, mask: Tensor) -> Tensor:
        """(batch, positions) -> (batch, positions, width); the mask is True where there is a token."""

    def summary(self, states: Tensor, mask: Tensor) -> Tensor:
        """(batch, width): what a classifier reads of the states; here that of the first position."""
        return states[:, 0]


@contextmanager
def layer_outputs(layers: nn.ModuleList) -> Iterator[list[Tensor]]:
    """Collect the input of the first of these layers, and the output of each, while a model computes."""
    seen: list[Tensor] = []

    def keep_input(module: nn.Module, given: tuple[Tensor, ...]) -> None:
        seen.append(given[0].detach())

    def keep_output(module: nn.Module, given: tuple[Tensor, ...], returned: Tensor) -> None:
        seen.append(returned.detach())

    hooks = [layers[0].register_forward_pre_hook(keep_input)]
    hooks += [layer.register_forward_hook(keep_output) for layer in layers]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def select(tree: Tree, rows: Tensor) -> Tree:
    """Select rows of every tensor of a tree."""
    if isinstance(tree, Tensor):
        return tree.index_select(0, rows)
    return tuple(select(branch, rows) for branch in tree)


def repeat(tree: Tree, times: int) -> Tree:
    """Repeat every row of every tensor `times` times, consecutively."""
    if isinstance(tree, Tensor):
        return tree.repeat_interleave(times, dim=0)
    return tuple(repeat(branch, times) for branch in tree)


def causal_mask(length: int, device: torch.device) -> Tensor:
    """(length, length): True where position i (row) may attend to position j <= i (§3.2.3)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def token_mask(lengths: Tensor, width: int) -> Tensor:
    """(batch, width): True at the first `lengths` positions of each row."""
    return torch.arange(width, device=lengths.device) < lengths[:, None]
