"""R-Drop's loss: the fast form against the written one, and what it asks of two passes."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn.functional import kl_div

from tongsa.models.consistency import consistent_cross_entropy, linear_consistent_cross_entropy
from tongsa.models.loss import ROWS, linear_cross_entropy, smoothed_cross_entropy

WEIGHT = 2.5


def inputs(tokens: int = 30, vocabulary: int = 7) -> tuple[Tensor, Tensor, Tensor]:
    """Features of two passes, the table of the output with a row for `<pad>`, and labels."""
    torch.manual_seed(0)
    table = torch.randn(vocabulary + 1, 5, dtype=torch.float64)
    return torch.randn(2, tokens, 5, dtype=torch.float64), table, torch.randint(0, vocabulary, (tokens,))


def test_the_written_loss_has_the_divergence_of_torch() -> None:
    features, table, labels = inputs()
    logits = features @ table[:-1].T
    log_p, log_q = torch.log_softmax(logits.float(), dim=-1)
    both_ways = kl_div(log_q, log_p.exp(), reduction="sum") + kl_div(log_p, log_q.exp(), reduction="sum")
    plain = [smoothed_cross_entropy(each, labels, 0.1).total for each in logits]
    expected = (plain[0] + plain[1]) / 2 + WEIGHT * both_ways / 2
    torch.testing.assert_close(consistent_cross_entropy(logits, labels, 0.1, WEIGHT).total, expected)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("tokens", [1, 30, ROWS["cpu"] + 3])
def test_the_loss_without_logits_equals_the_written_one(smoothing: float, tokens: int) -> None:
    """Also across the seams of the parts that it is computed in."""
    features, table, labels = inputs(tokens)
    results = []
    for fast in (True, False):
        h, w = features.clone().requires_grad_(), table.clone().requires_grad_()
        if fast:
            loss = linear_consistent_cross_entropy(h, w, labels, smoothing, WEIGHT)
        else:
            loss = consistent_cross_entropy(h @ w[:-1].T, labels, smoothing, WEIGHT)
        (3 * loss.total).backward()
        results.append((loss.total.detach().double(), loss.log_loss.double(), h.grad, w.grad))
    for ours, written in zip(*results, strict=True):
        torch.testing.assert_close(ours, written, rtol=1e-4, atol=1e-4)  # the written one rounds logits to float32


def test_two_equal_passes_have_the_loss_and_gradient_of_one() -> None:
    features, table, labels = inputs()
    w, once = table.clone().requires_grad_(), table.clone().requires_grad_()
    same = features[:1].expand(2, -1, -1).contiguous()
    consistent = linear_consistent_cross_entropy(same, w, labels, 0.1, WEIGHT)
    plain = linear_cross_entropy(features[0], once, labels, 0.1)
    consistent.total.backward()
    plain.total.backward()
    torch.testing.assert_close(consistent.total, plain.total)
    torch.testing.assert_close(consistent.log_loss, plain.log_loss)
    torch.testing.assert_close(w.grad, once.grad)


def test_in_bfloat16_it_differs_by_rounding_alone() -> None:
    torch.manual_seed(0)
    features, table, labels = torch.randn(2, 300, 24), torch.randn(41, 24) / 5, torch.randint(0, 40, (300,))
    found = []
    for bfloat16 in (True, False):
        h, w = features.clone().requires_grad_(), table.clone().requires_grad_()
        loss = linear_consistent_cross_entropy(h, w, labels, 0.1, WEIGHT, bfloat16=bfloat16)
        loss.total.backward()
        found.append([loss.total.detach(), h.grad, w.grad])
    for ours, exact in zip(*found, strict=True):
        assert float((ours - exact).norm() / exact.norm()) < 3 * 2**-8
