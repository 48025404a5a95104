"""A recurrent network as a language model: Mikolov et al. 2010, and with LSTMs Zaremba et al. 2014.

    h_t^l = LSTM(D(h_t^(l-1)), h_(t-1)^l),    h_t^0 the embedding of the word at t           Zaremba et al., §3.1
    p(y_(t+1) | y_1 .. y_t) = softmax(W D(h_t^L)),    D is dropout: never between two times  Zaremba et al., §3.2

It is the decoder of models/recurrent.py without a source: a piece of text begins with states of zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from torch import Tensor, nn

from tongsa.config.architectures import MAX_LAYERS, MAX_WIDTH, ModelSection
from tongsa.config.complexity import RECURRENT, Facts
from tongsa.config.sections import bounds
from tongsa.models.cells import Kind, Layers, Stack, embed, initialise
from tongsa.models.contracts import NO_MEMORY, Decoder, State, Tree
from tongsa.models.dropout import dropout
from tongsa.models.embeddings import table


@dataclass(frozen=True, kw_only=True)
class RecurrentLanguageModelSection(ModelSection):
    """A stack of recurrent cells that writes the next word."""

    architecture: Literal["recurrent-language-model"] = "recurrent-language-model"
    """Name of the architecture."""
    cell: Kind = "lstm"
    """The kind of its cells."""
    hidden: int = 0
    """Units of a layer (0: d_model)."""
    layers: int = 2
    """Layers of cells (Zaremba et al. have two)."""
    forget_bias: float = 1.0
    """Initial bias of an LSTM's forget gates."""
    tied: bool = True
    """One matrix for the embeddings and the output, as in the Transformer (Zaremba et al. have two)."""

    @property
    def units(self) -> int:
        return self.hidden or self.d_model

    def facts(self, n: float) -> Facts:
        return Facts(kind=RECURRENT, layers=str(self.layers), d=self.units, decoder_path="–")

    def problems(self) -> list[str]:
        found = bounds(self, layers=(1, MAX_LAYERS), hidden=(0, MAX_WIDTH), forget_bias=(-100, 100))
        return super().problems() + found


class RecurrentLanguageModel(Decoder):
    """p(y_t | y_1 .. y_(t-1)) = softmax of a linear map of the top layer's h after y_(t-1)."""

    section = RecurrentLanguageModelSection

    def __init__(self, config: RecurrentLanguageModelSection, size: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = table(size, config.d_model)
        self.output = self.embedding if config.tied else table(size, config.d_model)
        self.decoder = Stack(config.cell, config.d_model, config.units, config.layers, config.dropout)
        # The table of the softmax is as wide as the embeddings; where h is wider or narrower, a matrix lies between.
        narrow = config.units != config.d_model
        self.narrow = nn.Linear(config.units, config.d_model, bias=False) if narrow else None
        self.apply(lambda module: initialise(module, config.forget_bias))

    def features(self, memory: Tree, target: Tensor) -> Tensor:
        return self._read_out(self.decoder(self._embed(target), self._zeros(len(target))))

    def start(self, memory: Tree) -> State:
        """Return no states: the number of rows is known only in the first step."""
        return State(memory=NO_MEMORY, cache=())

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        before = cast(Layers, state.cache) or self._zeros(len(tokens))
        states = self.decoder.step(self._embed(tokens), before)
        return self.project(self._read_out(states[-1][0])), State(state.memory, states)

    def projection(self) -> Tensor:
        return self.output.weight

    def _zeros(self, rows: int) -> Layers:
        zeros = self.output.weight.new_zeros(rows, self.config.units)
        return ((zeros,) * (2 if self.config.cell == "lstm" else 1),) * self.config.layers

    def _embed(self, tokens: Tensor) -> Tensor:
        return self._dropout(embed(self.embedding, tokens))

    def _read_out(self, h: Tensor) -> Tensor:
        """What the softmax is taken of (..., d_model)."""
        h = self._dropout(h)
        return h if self.narrow is None else self.narrow(h)

    def _dropout(self, x: Tensor) -> Tensor:
        return dropout(x, self.config.dropout if self.training else 0.0)
