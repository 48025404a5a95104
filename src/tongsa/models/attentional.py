"""A context vector at every step, from all states of the encoder.

Bahdanau et al. 2015 (arXiv 1409.0473), "RNNsearch", and Luong et al. 2015 (arXiv 1508.04025).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from tongsa.config.architectures import MAX_POSITIONS
from tongsa.config.complexity import BY_ATTENTION, RECURRENT, Facts
from tongsa.config.sections import bounds
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
    score: Literal["additive", "dot", "general", "concat"] = "general"
    """Function that scores decoder states against encoder states: Bahdanau's, or one of Luong's."""
    attention: Literal["global", "local-m", "local-p"] = "global"
    """Attend to the whole source, or to a window at the step's own place (monotonic) or at a predicted one (Luong)."""
    window: int = 10
    """D of local attention: source tokens on either side of the window's centre."""
    feed: Literal["nothing", "attentional", "context"] = "nothing"
    """Input of the decoder besides the last token: nothing (the fastest to train), the vector before the last softmax
    (Luong's input feeding), or the context that its previous state attends to (Bahdanau's)."""

    @property
    def cell(self) -> Literal["gru", "lstm"]:
        return "gru" if self.architecture == "gru-attention" else "lstm"

    def problems(self) -> list[str]:
        return super().problems() + bounds(self, window=(1, MAX_POSITIONS))

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
        self.alignment = Alignment(config.score, hidden, config.attention, config.window)
        self.deep_output = DeepOutput(hidden + width + hidden, width) if config.feed == "context" else None
        self.combine = nn.Linear(2 * hidden, width, bias=False) if config.feed != "context" else None
        self.apply(lambda module: initialise(module, config.forget_bias))

    def encode(self, source: Tensor, source_mask: Tensor) -> tuple[Annotations, Layers]:
        values, last = self.encoder(self._embed(self.source_embedding, source), source_mask)
        return Annotations(values, self.alignment.keys(values), source_mask), last

    def start(self, memory: Tree) -> State:
        """The encoder's last states start the decoder (Luong et al.); before the first step t is 0.

        Monotonic attention also counts the steps.
        """
        annotations, last = cast(tuple[Annotations, Layers], memory)
        t = self._before_the_first(last)
        count = (torch.zeros(len(t), dtype=torch.long, device=t.device),) if self.alignment.counts_steps else ()
        return State(memory=annotations, cache=(last, t, *count))

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        states, t, *counts = cast(tuple[Any, ...], state.cache)
        counts = [count + 1 for count in counts]
        y = self._embed(self.target_embedding, tokens)
        annotations = Annotations(*cast(tuple[Tensor, ...], state.memory))
        states, t, _ = self._step(y, states, t, annotations, *(count[:, None] for count in counts))
        return self.project(self._dropout(t)), State(state.memory, (states, t, *counts))

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
            context, weights = self.alignment(s, annotations, torch.arange(1, s.shape[1] + 1, device=s.device)[None])
            return self._read_out(s, y, context), weights
        t = self._before_the_first(states)
        steps = []
        for number, y_t in enumerate(y.unbind(dim=1), 1):
            states, t, weights = self._step(y_t, states, t, annotations, torch.tensor([[number]], device=y.device))
            steps.append((t, weights))
        every_t, every_weight = zip(*steps, strict=True)
        return torch.stack(every_t, dim=1), torch.stack(every_weight, dim=1)

    def _step(
        self, y: Tensor, states: Layers, t: Tensor, annotations: Annotations, number: Tensor | None = None
    ) -> tuple[Layers, Tensor, Tensor]:
        """One step after y (batch, d_model), given the previous states and t; returns both updated, and the weights."""
        if self.config.feed == "context":
            context, weights = self._attend(states, annotations, number)
            states = self.decoder.step(torch.cat([y, context], dim=-1), states)
        else:
            fed = [y, t] if self.config.feed == "attentional" else [y]
            states = self.decoder.step(torch.cat(fed, dim=-1), states)
            context, weights = self._attend(states, annotations, number)
        return states, self._read_out(states[-1][0], y, context), weights

    def _attend(self, states: Layers, annotations: Annotations, number: Tensor | None) -> tuple[Tensor, Tensor]:
        context, weights = self.alignment(states[-1][0][:, None], annotations, number)
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
    concat    v_a^T tanh(W_a [s; h])                                  the same function as the next, in one matrix
    additive  v_a^T tanh(W_a s + U_a h)                                                     Bahdanau et al., A.1.2

    In training, the last two take memory for target x source x hidden numbers, the others for target x source.

    Local attention (Luong et al., §3.2) is the softmax over a window of D annotations on either side of p_t only:

    local-m   p_t = t
    local-p   p_t = S sigmoid(v_p^T tanh(W_p s)), and the weights times exp(-(i - p_t)^2 / 2σ^2), σ = D/2   Eq. 9, 10
    """

    def __init__(self, score: str, hidden: int, attention: str = "global", window: int = 10) -> None:
        super().__init__()
        self.score, self.attention, self.window = score, attention, window
        self.counts_steps = attention == "local-m"
        joint = score == "concat"
        self.of_annotation = nn.Identity() if score == "dot" or joint else nn.Linear(hidden, hidden, bias=False)
        self.of_state = nn.Linear(hidden, hidden, bias=False) if score == "additive" else nn.Identity()
        self.of_both = nn.Linear(2 * hidden, hidden, bias=False) if joint else None
        self.v = nn.Linear(hidden, 1, bias=False) if score == "additive" or joint else None
        self.w_p = nn.Linear(hidden, hidden, bias=False) if attention == "local-p" else None
        self.v_p = nn.Linear(hidden, 1, bias=False) if attention == "local-p" else None

    def keys(self, annotations: Tensor) -> Tensor:
        if self.of_both is not None:  # W_a [s; h] = W_s s + W_h h: the second part is the same for every step
            return linear(annotations, self.of_both.weight.chunk(2, dim=1)[1])
        return self.of_annotation(annotations)  # type: ignore[no-any-return]

    def forward(self, s: Tensor, annotations: Annotations, step: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """s (batch, queries, hidden) -> context (batch, queries, hidden), weights (batch, queries, source).

        `step` (batch or 1, queries) counts the target's steps from 1: local-m needs it.
        """
        weights = self.weights(self.scores(s, annotations.keys), s, annotations.mask, step)
        return weights @ annotations.values, weights

    def scores(self, s: Tensor, keys: Tensor) -> Tensor:
        query = self.of_state(s) if self.of_both is None else linear(s, self.of_both.weight.chunk(2, dim=1)[0])
        if self.v is None:
            return query @ keys.transpose(1, 2)
        return self.v(torch.tanh(query[:, :, None] + keys[:, None])).squeeze(-1)  # type: ignore[no-any-return]

    def weights(self, scores: Tensor, s: Tensor, mask: Tensor, step: Tensor | None) -> Tensor:
        if self.attention == "global":
            return torch.softmax(scores.masked_fill(~mask[:, None], -math.inf), dim=-1)
        places = torch.arange(1, mask.shape[1] + 1, device=mask.device)
        distance = places - self.centre(s, mask.sum(dim=1, keepdim=True), step)[..., None]  # (batch, queries, source)
        inside = mask[:, None] & (distance.abs() <= self.window)
        weights = torch.softmax(scores.masked_fill(~inside, -math.inf), dim=-1)
        if self.attention == "local-m":
            return weights
        return weights * torch.exp(-(distance**2) / (2 * (self.window / 2) ** 2))

    def centre(self, s: Tensor, lengths: Tensor, step: Tensor | None) -> Tensor:
        """p_t (batch, queries), in places counted from 1; lengths (batch, 1) are S."""
        if self.w_p is not None and self.v_p is not None:
            return lengths * torch.sigmoid(self.v_p(torch.tanh(self.w_p(s)))).squeeze(-1)
        assert step is not None, "monotonic attention is told its step"
        return torch.minimum(step, lengths)  # a target longer than its source stays at the end: the paper says nothing
