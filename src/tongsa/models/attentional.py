"""A context vector at every step, from all states of the encoder.

Bahdanau et al. 2015 (arXiv 1409.0473), "RNNsearch", and Luong et al. 2015 (arXiv 1508.04025).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

import torch
from torch import Tensor, nn

from tongsa.config.complexity import BY_ATTENTION, RECURRENT, Facts
from tongsa.models.cells import Layers, RecurrentEncoder, RecurrentLayers, Stack, embed, initialise
from tongsa.models.contracts import Attention, Seq2Seq, State, Tree
from tongsa.models.dropout import dropout
from tongsa.models.embeddings import tables
from tongsa.models.recurrent import DeepOutput


@dataclass(frozen=True, kw_only=True)
class AttentionalSection(RecurrentLayers):
    """Recurrent, with a context vector at every step: Bahdanau et al. 2015, Luong et al. 2015."""

    architecture: Literal["gru-attention", "lstm-attention"] = "lstm-attention"
    """The cell: gated recurrent unit, or long short-term memory."""
    bidirectional: bool = True
    """Read the source in both directions, as Bahdanau et al. do; Luong et al. read forwards only."""
    score: Literal["additive", "dot", "general"] = "general"
    """Function that scores decoder states against encoder states: Bahdanau's, or one of Luong's."""
    feed: Literal["nothing", "attentional", "context"] = "nothing"
    """Input of the decoder besides the last token: nothing (the fastest to train), the vector before the last softmax
    (Luong's input feeding), or the context that its previous state attends to (Bahdanau's)."""

    @property
    def cell(self) -> Literal["gru", "lstm"]:
        return "gru" if self.architecture == "gru-attention" else "lstm"

    def facts(self, n: float) -> Facts:
        layers = f"{self.layers} + {self.layers}"
        return Facts(kind=RECURRENT, layers=layers, d=self.units, decoder_path=BY_ATTENTION)


class Annotations(NamedTuple):
    """The encoder's states h_1 .. h_n, and the part of their scores that does not depend on the decoder."""

    values: Tensor
    """(batch, source, hidden)"""
    keys: Tensor
    """(batch, source, hidden): the states' part of the scores."""
    mask: Tensor
    """(batch, source)"""


class Attentional(Seq2Seq):
    """`feed` selects the input of the decoder's cell besides the last token:

    nothing      s_t = f(s_{t-1}, y_{t-1});             c_t attends from s_t;   t_t = tanh(W_c [c_t; s_t])
                 Luong et al., §3: a whole target goes through the kernel at once
    attentional  s_t = f(s_{t-1}, [y_{t-1}; t_{t-1}]);  the rest alike          Luong et al., §3.3: input feeding
    context      c_t attends from s_{t-1};              s_t = f(s_{t-1}, [y_{t-1}; c_t]);   t_t = maxout of s, y, c
                 Bahdanau et al., §3.1, Eq. 4 to 6

    The softmax is a linear map of t_t. In the last two, each step depends on the previous one, in training too.
    """

    section = AttentionalSection

    def __init__(self, config: AttentionalSection, source_size: int, target_size: int | None = None) -> None:
        super().__init__()
        self.config = config
        self.source_embedding, self.target_embedding, self.output = tables(
            source_size, target_size, config.d_model, config.tied
        )
        width, hidden, layers = config.d_model, config.units, config.layers
        self.encoder = RecurrentEncoder(
            config.cell, width, hidden, layers, config.dropout, bidirectional=config.bidirectional
        )
        fed = {"nothing": 0, "attentional": width, "context": hidden}[config.feed]
        self.decoder = Stack(config.cell, width + fed, hidden, layers, config.dropout)
        self.alignment = Alignment(config.score, hidden)
        self.deep_output = DeepOutput(hidden + width + hidden, width) if config.feed == "context" else None
        self.combine = nn.Linear(2 * hidden, width, bias=False) if config.feed != "context" else None
        self.apply(lambda module: initialise(module, config.forget_bias))

    def encode(self, source: Tensor, source_mask: Tensor) -> tuple[Annotations, Layers]:
        values, last = self.encoder(self._embed(self.source_embedding, source), source_mask)
        return Annotations(values, self.alignment.keys(values), source_mask), last

    def start(self, memory: Tree) -> State:
        """The encoder's last states start the decoder (Luong et al.); before the first step t is 0."""
        annotations, last = cast(tuple[Annotations, Layers], memory)
        return State(memory=annotations, cache=(last, self._before_the_first(last)))

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        states, t = cast(tuple[Layers, Tensor], state.cache)
        y = self._embed(self.target_embedding, tokens)
        states, t, _ = self._step(y, states, t, Annotations(*cast(tuple[Tensor, ...], state.memory)))
        return self.project(self._dropout(t)), State(state.memory, (states, t))

    def features(self, memory: Tree, target: Tensor) -> Tensor:
        return self._dropout(self._decode(memory, target)[0])

    def attend(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Attention:
        weights = self._decode(self.encode(source, source_mask), target)[1]
        return Attention(encoder=[], decoder=[], cross=[weights.detach()[:, None]])

    def projection(self) -> Tensor:
        return self.output.weight

    def _decode(self, memory: Tree, target: Tensor) -> tuple[Tensor, Tensor]:
        """t of every step (batch, steps, d_model), and its weights (batch, steps, source)."""
        (values, keys, mask), states = cast(tuple[tuple[Tensor, Tensor, Tensor], Layers], memory)
        annotations = Annotations(values, keys, mask)
        y = self._embed(self.target_embedding, target)
        if self.config.feed == "nothing":
            s = self.decoder(y, states)
            context, weights = self.alignment(s, annotations)
            return self._read_out(s, y, context), weights
        t = self._before_the_first(states)
        steps = []
        for y_t in y.unbind(dim=1):
            states, t, weights = self._step(y_t, states, t, annotations)
            steps.append((t, weights))
        every_t, every_weight = zip(*steps, strict=True)
        return torch.stack(every_t, dim=1), torch.stack(every_weight, dim=1)

    def _step(self, y: Tensor, states: Layers, t: Tensor, annotations: Annotations) -> tuple[Layers, Tensor, Tensor]:
        """One step after y (batch, d_model), given the previous states and t; returns both updated, and the weights."""
        if self.config.feed == "context":
            context, weights = self._attend(states, annotations)
            states = self.decoder.step(torch.cat([y, context], dim=-1), states)
        else:
            fed = [y, t] if self.config.feed == "attentional" else [y]
            states = self.decoder.step(torch.cat(fed, dim=-1), states)
            context, weights = self._attend(states, annotations)
        return states, self._read_out(states[-1][0], y, context), weights

    def _attend(self, states: Layers, annotations: Annotations) -> tuple[Tensor, Tensor]:
        context, weights = self.alignment(states[-1][0][:, None], annotations)
        return context[:, 0], weights[:, 0]

    def _read_out(self, s: Tensor, y: Tensor, context: Tensor) -> Tensor:
        """t (..., d_model)"""
        if self.deep_output is not None:
            return self.deep_output(s, y, context)  # type: ignore[no-any-return]
        assert self.combine is not None
        return torch.tanh(self.combine(torch.cat([context, s], dim=-1)))

    def _before_the_first(self, states: Layers) -> Tensor:
        h = states[-1][0]
        return h.new_zeros(len(h), self.config.d_model)

    def _embed(self, embedding: nn.Embedding, tokens: Tensor) -> Tensor:
        return self._dropout(embed(embedding, tokens))

    def _dropout(self, x: Tensor) -> Tensor:
        return dropout(x, self.config.dropout if self.training else 0.0)


class Alignment(nn.Module):
    """Scores of the decoder's state s for each annotation h, and the weighted mean of the annotations.

    dot       s^T h                                                                         Luong et al., Eq. 8
    general   s^T W_a h
    additive  v_a^T tanh(W_a s + U_a h)                                                     Bahdanau et al., A.1.2

    In training, the additive score takes memory for target x source x hidden numbers, the others for target x source.
    """

    def __init__(self, score: str, hidden: int) -> None:
        super().__init__()
        self.score = score
        self.of_annotation = nn.Identity() if score == "dot" else nn.Linear(hidden, hidden, bias=False)
        self.of_state = nn.Linear(hidden, hidden, bias=False) if score == "additive" else nn.Identity()
        self.v = nn.Linear(hidden, 1, bias=False) if score == "additive" else None

    def keys(self, annotations: Tensor) -> Tensor:
        return self.of_annotation(annotations)  # type: ignore[no-any-return]

    def forward(self, s: Tensor, annotations: Annotations) -> tuple[Tensor, Tensor]:
        """s (batch, queries, hidden) -> context (batch, queries, hidden), weights (batch, queries, source)."""
        query, keys = self.of_state(s), annotations.keys
        if self.v is None:
            scores = query @ keys.transpose(1, 2)
        else:
            scores = self.v(torch.tanh(query[:, :, None] + keys[:, None])).squeeze(-1)
        weights = torch.softmax(scores.masked_fill(~annotations.mask[:, None], -math.inf), dim=-1)
        return weights @ annotations.values, weights
