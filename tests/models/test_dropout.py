"""Dropout and its readable twin."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tongsa.models.dropout import dropout, dropout_add, dropout_add_norm, level, plain_dropout, plain_dropout_add_norm


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5])
def test_dropout_equals_its_readable_twin(p: float) -> None:
    x = torch.randn(5, 7, 9)
    torch.manual_seed(3)
    fast = dropout(x, p)
    torch.manual_seed(3)
    assert torch.allclose(fast, plain_dropout(x, p), atol=1e-6)


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5])
def test_dropout_residual_and_norm_in_one_equal_the_three_one_by_one(p: float) -> None:
    torch.manual_seed(0)
    norm = nn.LayerNorm(9)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    results = []
    for function in (dropout_add_norm, plain_dropout_add_norm):
        torch.manual_seed(1)
        x, y = torch.randn(4, 3, 9, requires_grad=True), torch.randn(4, 3, 9, requires_grad=True)
        norm.zero_grad()
        out = function(x, y, norm, p)
        (out * torch.arange(9.0)).sum().backward()
        results.append([out, x.grad, y.grad, norm.weight.grad, norm.bias.grad])
    for fast, plain in zip(*results, strict=True):
        assert fast is not None
        assert plain is not None
        torch.testing.assert_close(fast.detach(), plain.detach(), atol=1e-5, rtol=1e-5)


def test_dropout_drops_what_it_says_and_keeps_the_mean() -> None:
    torch.manual_seed(0)
    x = torch.ones(200_000)
    dropped = dropout(x, 0.1)
    assert float((dropped == 0).float().mean()) == pytest.approx(level(0.1) / 256, abs=0.003)
    assert level(0.1) / 256 == pytest.approx(0.1, abs=0.002)
    assert float(dropped.mean()) == pytest.approx(1.0, abs=0.003)


def test_the_gradient_passes_where_the_value_passed() -> None:
    torch.manual_seed(0)
    x = torch.ones(1000, requires_grad=True)
    out = dropout(x, 0.3)
    out.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, out.detach())


def test_without_dropout_nothing_is_drawn() -> None:
    """Random numbers belong to the seed of a chunk, not to how often a model was looked at in between."""
    before = torch.get_rng_state()
    x = torch.randn(1)
    torch.set_rng_state(before)
    torch.testing.assert_close(dropout_add(x, x, 0.0), 2 * x)
    assert torch.equal(torch.get_rng_state(), before)
