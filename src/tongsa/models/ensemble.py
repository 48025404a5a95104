"""An ensemble: several models that write one translation together. Each step averages their probabilities.

The average is the arithmetic mean of the probabilities, p(y) = (p_1(y) + ... + p_n(y)) / n, as in fairseq and Sockeye.
It is a probability distribution without further scaling, so scores and confidence keep their meaning, and one model
that finds a word impossible cannot forbid it, as it could with the mean of the log-probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from tongsa.models.contracts import Attention, Seq2Seq, State, Tree


class Ensemble(Seq2Seq):
    """Models with the same vocabularies, of any architecture; every search works with it as with one model."""

    def __init__(self, members: Sequence[Seq2Seq]) -> None:
        super().__init__()
        assert members, "an ensemble has members"
        self.members = nn.ModuleList(members)
        limits = [member.max_length for member in members if member.max_length is not None]
        self.max_length = min(limits, default=None)

    @property
    def models(self) -> list[Seq2Seq]:
        return list(self.members)  # type: ignore[arg-type]

    def encode(self, source: Tensor, source_mask: Tensor) -> Tree:
        return tuple(model.encode(source, source_mask) for model in self.models)

    def start(self, memory: Tree) -> State:
        states = [model.start(of_one) for model, of_one in zip(self.models, memory, strict=True)]
        return State(tuple(state.memory for state in states), tuple(state.cache for state in states))

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the logarithms of the mean probabilities as logits: a softmax gives the mean again."""
        done = [
            model.step(tokens, State(memory, cache))
            for model, memory, cache in zip(self.models, state.memory, state.cache, strict=True)
        ]
        after = State(tuple(each.memory for _, each in done), tuple(each.cache for _, each in done))
        return mean_log_probabilities([logits for logits, _ in done]), after

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
        return mean_log_probabilities([model(source, source_mask, target) for model in self.models])

    def attend(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Attention:
        """Return the attention weights of the first model: layers and heads of different models do not correspond."""
        return self.models[0].attend(source, source_mask, target)

    def features(self, memory: Tree, target: Tensor) -> Tensor:
        raise NotImplementedError("an ensemble is not trained: it has no features of its own")

    def projection(self) -> Tensor:
        raise NotImplementedError("an ensemble is not trained: it has no projection of its own")


def mean_log_probabilities(logits: Sequence[Tensor]) -> Tensor:
    """log of the mean of the models' probabilities, from the logits (..., vocabulary) of each."""
    if len(logits) == 1:
        return logits[0]
    log_p = torch.stack([torch.log_softmax(each.float(), dim=-1) for each in logits])
    return torch.logsumexp(log_p, dim=0) - math.log(len(logits))
