"""Flat optimizers against those of torch."""

from __future__ import annotations

import dataclasses
import sys
from typing import Literal

import pytest
import torch
from torch import nn

from tongsa.config import TrainingSection
from tongsa.training.optimizer import FlatOptimizer, orthogonal
from tongsa.training.workers import ProcessGroup


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)).double()


def loss(network: nn.Module, step: int) -> torch.Tensor:
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(step), dtype=torch.float64)
    x = x.to(next(network.parameters()).dtype)
    return (network(x) - x[:, :2]).square().sum()


def take(network: nn.Module, adam: FlatOptimizer, steps: range) -> None:
    for step in steps:
        adam.clear()
        loss(network, step).backward()
        adam.step(0.1 / (step + 1))


def test_flat_adam_equals_adam_parameter_by_parameter() -> None:
    flat, plain = model(), model()
    section = TrainingSection()
    ours = FlatOptimizer(flat, section, extra=3)
    theirs = torch.optim.Adam(plain.parameters(), betas=(0.9, 0.98), eps=1e-9)
    for step in range(20):
        ours.clear()
        loss(flat, step).backward()
        ours.step(0.01 * (step + 1))
        theirs.param_groups[0]["lr"] = 0.01 * (step + 1)
        theirs.zero_grad()
        loss(plain, step).backward()
        theirs.step()
    for (name, mine), other in zip(flat.named_parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine, other, atol=1e-12, rtol=1e-12, msg=lambda text, name=name: f"{name}: {text}")


def test_adam_is_torchs_fused_adam_bit_for_bit_and_has_its_state() -> None:
    flat, plain = model().float(), model().float()
    ours = FlatOptimizer(flat, TrainingSection())
    weights = nn.Parameter(ours.weights.detach().clone())
    theirs = torch.optim.Adam([weights], betas=(0.9, 0.98), eps=1e-9, fused=True)
    for step in range(20):
        ours.clear()
        loss(plain, step).backward()
        ours.gradient.copy_(torch.cat([p.grad.flatten() for p in plain.parameters() if p.grad is not None]))
        weights.grad = ours.gradient.clone()
        theirs.param_groups[0]["lr"] = 0.01 * (step + 1)
        theirs.step()
        ours.step(0.01 * (step + 1))
    assert torch.equal(ours.weights, weights)
    kept = theirs.state[weights]
    assert ours.state().keys() == kept.keys()
    assert all(torch.equal(value, kept[name]) for name, value in ours.state().items())


def test_a_step_does_not_import_torchs_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take a second at the start of every process that trains."""
    monkeypatch.setitem(sys.modules, "torch._dynamo", None)
    network = model()
    take(network, FlatOptimizer(network, TrainingSection()), range(1))
    with pytest.raises(ImportError):
        torch.optim.Adam(network.parameters()).step()


def test_weights_and_gradients_are_views_of_two_vectors() -> None:
    network = model()
    adam = FlatOptimizer(network, TrainingSection(), extra=2)
    assert len(adam.message) == sum(p.numel() for p in network.parameters()) + 2
    loss(network, 0).backward()
    assert torch.equal(adam.gradient, torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None]))
    adam.clear()
    assert all(p.grad is not None and not p.grad.any() for p in network.parameters())


def test_gradients_of_several_chunks_add_up() -> None:
    network = model()
    adam = FlatOptimizer(network, TrainingSection())
    one, both = [], []
    for step in (1, 2):
        adam.clear()
        loss(network, step).backward()
        one.append(adam.gradient.clone())
    adam.clear()
    for step in (1, 2):
        loss(network, step).backward()
    both = adam.gradient
    torch.testing.assert_close(both, one[0] + one[1])


def test_a_state_saved_and_loaded_goes_on_bit_for_bit() -> None:
    straight = model()
    take(straight, FlatOptimizer(straight, TrainingSection()), range(8))
    first = model()
    adam = FlatOptimizer(first, TrainingSection())
    take(first, adam, range(5))
    state, weights = adam.state(), [p.detach().clone() for p in first.parameters()]
    take(first, adam, range(5, 6))  # what is saved must not go on changing
    second = model()
    again = FlatOptimizer(second, TrainingSection())
    with torch.no_grad():
        for parameter, saved in zip(second.parameters(), weights, strict=True):
            parameter.copy_(saved)
    again.load(state)
    take(second, again, range(5, 8))
    assert all(map(torch.equal, second.parameters(), straight.parameters()))


def test_weight_decay_shrinks_matrices_alone_as_adamw_does() -> None:
    flat, plain = model(), model()
    ours = FlatOptimizer(flat, TrainingSection(weight_decay=0.5))
    groups = [{"params": [p for p in plain.parameters() if (p.ndim == 2) is decayed]} for decayed in (True, False)]
    groups[1]["weight_decay"] = 0.0  # type: ignore[assignment]
    theirs = torch.optim.AdamW(groups, lr=0.01, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.5)
    for step in range(20):
        ours.clear()
        loss(flat, step).backward()
        ours.step(0.01)
        theirs.zero_grad()
        loss(plain, step).backward()
        theirs.step()
    for mine, other in zip(flat.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine, other, atol=1e-12, rtol=1e-12)


MUON = TrainingSection(optimizer="muon", precision="float32")


@pytest.mark.parametrize("weight_decay", [0.0, 5.0])
def test_muon_equals_torchs_on_matrices_and_adam_on_the_rest(weight_decay: float) -> None:
    """torch's rounds to bfloat16 within a step, so that directions agree to two digits."""
    flat, plain = model(), model()
    ours = FlatOptimizer(flat, dataclasses.replace(MUON, weight_decay=weight_decay))
    matrices, biases = ([p for p in plain.parameters() if p.ndim == n] for n in (2, 1))
    muon = torch.optim.Muon(matrices, weight_decay=weight_decay, momentum=0.95, adjust_lr_fn="match_rms_adamw")
    adam = torch.optim.Adam(biases, betas=(0.9, 0.98), eps=1e-9)
    before = torch.cat([p.detach().flatten().clone() for p in plain.parameters()])
    for step in range(10):
        ours.clear()
        loss(flat, step).backward()
        ours.step(0.01)
        loss(plain, step).backward()
        for theirs in (muon, adam):
            theirs.param_groups[0]["lr"] = 0.01
            theirs.step()
            theirs.zero_grad()
    mine, other = (torch.cat([p.detach().flatten() for p in each.parameters()]) for each in (flat, plain))
    assert float((mine - other).norm() / (other - before).norm()) < 0.03


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 12, 5), (2, 5, 12)])
def test_directions_are_nearly_orthogonal_matrices_of_the_same_singular_vectors(shape: tuple[int, int, int]) -> None:
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=torch.float64)
    u, _, vh = torch.linalg.svd(x, full_matrices=False)
    found = u.mT @ orthogonal(x) @ vh.mT
    sizes = found.diagonal(dim1=1, dim2=2)
    assert 0.4 < float(sizes.min()) < float(sizes.max()) < 1.3
    assert float((found - torch.diag_embed(sizes)).abs().max()) < 1e-9


def test_workers_that_share_the_matrices_take_the_step_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is summed here, so each worker moves its own matrices alone; the biases are moved by both."""
    monkeypatch.setattr(ProcessGroup, "sum", lambda self, tensor: None)

    def moved(rank: int, size: int) -> torch.Tensor:
        torch.manual_seed(0)
        network = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 5), nn.Linear(5, 5), nn.Linear(5, 2))
        group = ProcessGroup(rank, size)
        optimizer = FlatOptimizer(network, MUON, group=group)
        group.one_machine = size > 1
        before = optimizer.weights.detach().clone()
        take(network, optimizer, range(1))
        return optimizer.weights.detach() - before

    alone, one, other = moved(0, 1), moved(0, 2), moved(1, 2)
    matrices = 3 * 5 + 2 * 5 * 5 + 5 * 2
    assert min(int((each[:matrices] != 0).sum()) for each in (one, other)) > 0
    torch.testing.assert_close(one[:matrices] + other[:matrices], alone[:matrices])
    torch.testing.assert_close(one[matrices:], alone[matrices:])
    torch.testing.assert_close(other[matrices:], alone[matrices:])


@pytest.mark.parametrize("optimizer", ["muon", "sgd"])
def test_a_loaded_state_of_other_optimizers_goes_on_bit_for_bit(optimizer: Literal["muon", "sgd"]) -> None:
    section = TrainingSection(optimizer=optimizer, precision="float32")
    straight, first, second = model(), model(), model()
    take(straight, FlatOptimizer(straight, section), range(6))
    saved = FlatOptimizer(first, section)
    take(first, saved, range(4))
    again = FlatOptimizer(second, section)
    second.load_state_dict(first.state_dict())
    again.load(saved.state())
    take(second, again, range(4, 6))
    assert all(map(torch.equal, second.parameters(), straight.parameters()))


def test_a_loaded_state_is_on_the_device_of_the_weights() -> None:
    """The number of steps, too: fused Adam on a GPU cannot count on the CPU. The device `meta` stands for a GPU."""
    with torch.device("meta"):
        elsewhere = FlatOptimizer(nn.Linear(3, 5), TrainingSection(optimizer="sgd"))
    here = FlatOptimizer(model(), TrainingSection())
    take(model(), here, range(1))
    elsewhere.load(here.state())
    assert {name: value.device.type for name, value in elsewhere.state().items()} == {
        "step": "meta",
        "exp_avg": "meta",
        "exp_avg_sq": "meta",
    }
