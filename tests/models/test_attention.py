"""Scaled dot-product attention against a loop written by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from tongsa.models.attention import MultiHeadAttention, attention


def by_hand(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Eq. 1 for one query at a time, in double precision: the output, and the weights."""
    batch, heads, queries, d_k = q.shape
    output = torch.zeros(batch, heads, queries, v.shape[-1], dtype=torch.float64)
    weights = torch.zeros(batch, heads, queries, k.shape[2], dtype=torch.float64)
    for b in range(batch):
        for h in range(heads):
            for i in range(queries):
                visible = [j for j in range(k.shape[2]) if mask[b, h, i, j]]
                powers = [math.exp(float(q[b, h, i] @ k[b, h, j]) / math.sqrt(d_k)) for j in visible]
                for j, power in zip(visible, powers, strict=True):
                    weights[b, h, i, j] = power / sum(powers)
                    output[b, h, i] += power / sum(powers) * v[b, h, j].double()
    return output, weights


def random_inputs(d_k: int = 3, d_v: int = 5) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    q, k, v = torch.randn(2, 3, 4, d_k), torch.randn(2, 3, 6, d_k), torch.randn(2, 3, 6, d_v)
    mask = torch.rand(2, 3, 4, 6) < 0.6
    mask[..., 0] = True  # a query that may look nowhere does not exist
    return q, k, v, mask


def test_attention_equals_a_loop_written_by_hand() -> None:
    q, k, v, mask = random_inputs()
    expected, _ = by_hand(q, k, v, mask)
    torch.testing.assert_close(attention(q, k, v, mask).double(), expected, atol=1e-6, rtol=0)


def test_attention_without_a_mask_looks_everywhere() -> None:
    q, k, v, mask = random_inputs()
    expected, _ = by_hand(q, k, v, torch.ones_like(mask))
    torch.testing.assert_close(attention(q, k, v, None).double(), expected, atol=1e-6, rtol=0)


def test_weights_asked_for_are_those_of_the_loop() -> None:
    q, k, v, mask = random_inputs()
    _, expected = by_hand(q, k, v, mask)
    seen: list[Tensor] = []
    attention(q, k, v, mask, seen)
    torch.testing.assert_close(seen[0].double(), expected, atol=1e-6, rtol=0)


def test_weights_sum_to_one_and_masked_keys_get_exactly_zero() -> None:
    q, k, v, mask = random_inputs()
    seen: list[Tensor] = []
    attention(q, k, v, mask, seen)
    torch.testing.assert_close(seen[0].sum(dim=-1), torch.ones(2, 3, 4))
    assert not seen[0][~mask].any()
    assert (seen[0][mask] > 0).all()


def test_asking_for_weights_does_not_change_the_output() -> None:
    q, k, v, mask = random_inputs()
    torch.testing.assert_close(attention(q, k, v, mask, []), attention(q, k, v, mask), atol=1e-6, rtol=0)


def test_masked_values_change_nothing() -> None:
    q, k, v, mask = random_inputs()
    mask = mask[:1, :1, :1].expand(2, 3, 4, 6)
    hidden = ~mask[0, 0, 0]
    before = attention(q, k, v, mask)
    k[:, :, hidden], v[:, :, hidden] = 50.0, -1000.0
    torch.testing.assert_close(attention(q, k, v, mask), before)


@pytest.mark.parametrize("masked", [True, False])
def test_gradients_flow_to_queries_keys_and_values(masked: bool) -> None:
    """Also what a fused backward pass must give: the gradients of the written-out formula."""
    q, k, v, mask = (x.double() if x.is_floating_point() else x for x in random_inputs())
    inputs = [x.requires_grad_() for x in (q, k, v)]
    assert torch.autograd.gradcheck(lambda *x: attention(*x, mask if masked else None), inputs, fast_mode=True)


def test_heads_have_key_and_value_widths_of_their_own() -> None:
    torch.manual_seed(0)
    heads = MultiHeadAttention(d_model=8, heads=2, d_k=3, d_v=5)
    x = torch.randn(2, 4, 8)
    assert heads(x, x, None).shape == (2, 4, 8)
    assert sum(p.numel() for p in heads.parameters()) == 2 * (8 * 6 + 6) + (8 * 10 + 10) + (10 * 8 + 8)
