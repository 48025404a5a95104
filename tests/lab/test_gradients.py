"""Influence of the first source token, checked on models whose derivative is known."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from tongsa.lab.compare.gradients import BIN, reach
from tongsa.lab.compare.plan import own_recipe
from tongsa.models import build
from tongsa.models.contracts import Seq2Seq, State, Tree
from tongsa.models.recurrent import RecurrentSection

WIDTH = 64


class Known(Seq2Seq):
    """f_t = 1 + decay^(n + t) A x_1, where the target and all other source tokens say nothing."""

    def __init__(self, decay: float, backwards: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(50, WIDTH)
        self.positions = nn.Embedding(100, WIDTH)
        self.matrix = nn.Parameter(torch.randn(WIDTH, WIDTH) / WIDTH)
        self.decay, self.backwards = decay, backwards

    def encode(self, source: Tensor, source_mask: Tensor) -> Tree:
        self.positions(torch.arange(source.shape[1])).expand(len(source), -1, -1)
        return self.embedding(source.flip(1) if self.backwards else source)  # type: ignore[no-any-return]

    def features(self, memory: Tree, target: Tensor) -> Tensor:
        assert isinstance(memory, Tensor)
        self.embedding(target)
        powers = self.decay ** (memory.shape[1] + torch.arange(target.shape[1]).float())
        x = memory[:, -1 if self.backwards else 0]
        return 1000 + powers[:, None] * (x @ self.matrix.T)[:, None]

    def start(self, memory: Tree) -> State:
        raise NotImplementedError

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        raise NotImplementedError

    def projection(self) -> Tensor:
        raise NotImplementedError


SOURCES = [[2 + (7 * i + j) % 40 for j in range(3 + i % 9)] for i in range(60)]
TARGETS = [[5 + j for j in range(4 + i % 7)] for i in range(60)]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("decay", [1.0, 0.5])
def test_a_known_derivative_is_found(decay: float, backwards: bool) -> None:
    model = Known(decay, backwards)
    size = float(model.embedding.weight.detach().norm(dim=-1).log().mean().exp())
    known = float(model.matrix.detach().norm()) / math.sqrt(WIDTH) * size / (1000 * math.sqrt(WIDTH))
    found = reach(model, SOURCES, TARGETS, end=1, start=0)
    assert len(found) >= 4
    for distance, value in found:
        # within a bin of four distances the measurements need not lie in its middle
        room = 1.25 if decay == 1 else 2**BIN
        assert known * decay**distance / room < value < known * decay**distance * room
    if decay < 1:
        slope = math.log(found[-1][1] / found[0][1]) / (found[-1][0] - found[0][0])
        assert slope == pytest.approx(math.log(decay), rel=0.15)  # the outer bins are met at their inner side


def test_a_plain_recurrent_network_forgets_and_attention_does_not() -> None:
    torch.manual_seed(0)
    plain = build(RecurrentSection(architecture="rnn", d_model=32), 50, None)
    with torch.no_grad():
        for name, weight in plain.named_parameters():
            if "weight_hh" in name:
                weight *= 0.7 / torch.linalg.matrix_norm(weight, 2)  # each step keeps at most 0.7 of a change
    attending = build(own_recipe("tiny").model, 50, None)
    lost, kept = (reach(model, SOURCES, TARGETS, end=1, start=0) for model in (plain, attending))
    assert lost[-1][1] < 0.1 * lost[0][1]
    assert kept[-1][1] > 0.3 * kept[0][1]


def test_measuring_leaves_a_model_as_it_was() -> None:
    model = Known(1.0)
    before = {name: parameter.clone() for name, parameter in model.named_parameters()}
    reach(model, SOURCES[:5], TARGETS[:5], end=1, start=0)
    assert all(parameter.grad is None for parameter in model.parameters())
    assert all(torch.equal(parameter, before[name]) for name, parameter in model.named_parameters())
    assert not any(module._forward_hooks for module in model.modules())
