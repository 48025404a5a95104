"""Encoder and decoder joined by one vector: Sutskever et al. 2014 (arXiv 1409.3215), Cho et al. 2014 (arXiv 1406.1078).

The encoder reads the sentence; its last states, which do not grow with the sentence, start the decoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor, nn

from tongsa.config.complexity import RECURRENT, Facts
from tongsa.models.cells import Kind, Layers, RecurrentEncoder, RecurrentLayers, Stack, embed, initialise
from tongsa.models.contracts import Seq2Seq, State, Tree
from tongsa.models.dropout import dropout
from tongsa.models.embeddings import tables


@dataclass(frozen=True, kw_only=True)
class RecurrentSection(RecurrentLayers):
    """Encoder and decoder joined by one vector: Sutskever et al. 2014, Cho et al. 2014."""

    architecture: Literal["rnn", "gru", "lstm"] = "lstm"
    """The cell: simple (tanh), gated recurrent unit, or long short-term memory."""
    activation: Literal["tanh", "relu"] = "tanh"
    """Activation of a simple cell; the others have their own."""
    reverse: bool = False
    """Read the source backwards (Sutskever et al., §3.3)."""
    feed_context: bool = False
    """Feed the source's vector to the decoder at every step, not only at its start (Cho et al., §2.2)."""

    @property
    def cell(self) -> Kind:
        return "rnn-relu" if self.activation == "relu" else self.architecture

    def problems(self) -> list[str]:
        found = super().problems()
        if self.activation != "tanh" and self.architecture != "rnn":
            found.append(
                f"activation is {self.activation}; only the cell of rnn has a choice, not that of {self.architecture}"
            )
        return found

    def facts(self, n: float) -> Facts:
        layers = f"{self.layers} + {self.layers}"
        return Facts(kind=RECURRENT, layers=layers, d=self.units, decoder_path="up to 2n, through one vector")


class Recurrent(Seq2Seq):
    """p(y_t | y_1 .. y_{t-1}, x) = softmax of a linear map of the decoder's h_t           (Sutskever et al., Eq. 1)

    With `feed_context` the decoder's cell also reads the source's vector c at every step, and so does the softmax:
    h_t = f(h_{t-1}, y_{t-1}, c),   p(y_t | ...) = g(h_t, y_{t-1}, c)                      (Cho et al., §2.2)
    """

    section = RecurrentSection

    def __init__(self, config: RecurrentSection, source_size: int, target_size: int | None = None) -> None:
        super().__init__()
        self.config = config
        self.source_embedding, self.target_embedding, self.output = tables(
            source_size, target_size, config.d_model, config.tied
        )
        width, hidden, layers = config.d_model, config.units, config.layers
        self.encoder = RecurrentEncoder(
            config.cell, width, hidden, layers, config.dropout, bidirectional=config.bidirectional
        )
        fed = hidden if config.feed_context else 0
        self.decoder = Stack(config.cell, width + fed, hidden, layers, config.dropout)
        self.deep_output = DeepOutput(hidden + width + fed, width) if fed else None
        # The table of the softmax is as wide as the embeddings; where h is wider or narrower, a matrix lies between.
        self.narrow = None if fed or hidden == width else nn.Linear(hidden, width, bias=False)
        self.apply(lambda module: initialise(module, config.forget_bias))

    def encode(self, source: Tensor, source_mask: Tensor) -> Layers:
        if self.config.reverse:
            source = reversed_within(source, source_mask)
        return self.encoder(self._embed(self.source_embedding, source), source_mask)[1]  # type: ignore[no-any-return]

    def start(self, memory: Tree) -> State:
        states = cast(Layers, memory)
        return State(memory=self._context(states), cache=states)

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        y, context = self._embed(self.target_embedding, tokens), cast(tuple[Tensor, ...], state.memory)
        states = self.decoder.step(torch.cat([y, *context], dim=-1), cast(Layers, state.cache))
        return self.project(self._read_out(states[-1][0], y, context)), State(state.memory, states)

    def features(self, memory: Tree, target: Tensor) -> Tensor:
        states = cast(Layers, memory)
        y = self._embed(self.target_embedding, target)
        context = tuple(c[:, None].expand(-1, y.shape[1], -1) for c in self._context(states))
        h = self.decoder(torch.cat([y, *context], dim=-1), states)
        return self._read_out(h, y, context)

    def projection(self) -> Tensor:
        return self.output.weight

    def _context(self, states: Layers) -> tuple[Tensor, ...]:
        """c, the encoder's last h (batch, hidden), where the decoder is fed with it. (Cho et al. map it once more.)"""
        return (states[-1][0],) if self.config.feed_context else ()

    def _read_out(self, h: Tensor, y: Tensor, context: tuple[Tensor, ...]) -> Tensor:
        """What the softmax is taken of (..., d_model)."""
        if self.deep_output is not None:
            return self._dropout(self.deep_output(h, y, *context))
        h = self._dropout(h)
        return h if self.narrow is None else self.narrow(h)

    def _embed(self, embedding: nn.Embedding, tokens: Tensor) -> Tensor:
        return self._dropout(embed(embedding, tokens))

    def _dropout(self, x: Tensor) -> Tensor:
        return dropout(x, self.config.dropout if self.training else 0.0)


class DeepOutput(nn.Module):
    """One maxout layer before the softmax: t_j = max(t'_{2j-1}, t'_{2j}), t' a linear map of all that is known.

    Cho et al. 2014, A.1.2; Bahdanau et al. 2015, A.2.2
    """

    def __init__(self, known: int, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(known, 2 * width)

    def forward(self, *known: Tensor) -> Tensor:
        return self.linear(torch.cat(known, dim=-1)).unflatten(-1, (-1, 2)).amax(dim=-1)  # type: ignore[no-any-return]


def reversed_within(source: Tensor, mask: Tensor) -> Tensor:
    """Each sentence backwards, within its own length and before its end:  a b c </s> -> c b a </s>

    Sutskever et al., §3.3: so its first words come close to the first words of the translation.
    """
    last = mask.sum(dim=1, keepdim=True) - 1
    place = torch.arange(source.shape[1], device=source.device).expand_as(source)
    return source.gather(1, torch.where(place < last, last - 1 - place, place))
