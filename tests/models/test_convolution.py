"""Convolutions as one product."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn.functional import conv1d, pad

from tongsa.models.convolution import Convolution, neighbours


def by_torch(convolution: Convolution, x: Tensor, before: int) -> Tensor:
    width, inputs = convolution.width, x.shape[-1]
    kernel = convolution.linear.weight.unflatten(1, (width, inputs)).transpose(1, 2)
    padded = pad(x.transpose(1, 2), (before, convolution.reach - before))
    return conv1d(padded, kernel, convolution.linear.bias, dilation=convolution.dilation).transpose(1, 2)


@pytest.mark.parametrize("width", [1, 3, 5])
@pytest.mark.parametrize("dilation", [1, 2, 16])
@pytest.mark.parametrize("masked", [True, False])
def test_one_product_is_the_convolution_of_torch_with_its_gradients(width: int, dilation: int, masked: bool) -> None:
    torch.manual_seed(1)
    convolution = Convolution(4, 6, width, dilation=dilation, masked=masked)
    x = torch.randn(2, 9, 4, requires_grad=True)
    before = dilation * (width - 1) // (1 if masked else 2)
    ours, theirs = convolution(x), by_torch(convolution, x, before)
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=0)
    into = torch.randn_like(ours)
    inputs = [x, *convolution.parameters()]
    for a, b in zip(torch.autograd.grad(ours, inputs, into), torch.autograd.grad(theirs, inputs, into), strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=0)


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("offsets", [(-1, 0, 1), (-6, -3, 0), (9, -9), (0,)], ids=str)
def test_neighbours_stand_side_by_side_in_any_dimension(dim: int, offsets: tuple[int, ...]) -> None:
    x = torch.randn(2, 3, 5, 2, dtype=torch.float64, requires_grad=True)
    length = x.shape[dim]
    found = neighbours(x, dim, offsets).unflatten(-1, (len(offsets), 2))
    for tap, offset in enumerate(offsets):
        for place in range(length):
            there = place + offset
            expected = x.select(dim, there) if 0 <= there < length else torch.zeros_like(x.select(dim, 0))
            assert torch.equal(found[..., tap, :].select(dim, place), expected)
    assert torch.autograd.gradcheck(lambda x: neighbours(x, dim, offsets), x)


@pytest.mark.parametrize("dilation", [1, 4])
def test_steps_of_a_masked_convolution_give_what_the_whole_gives(dilation: int) -> None:
    torch.manual_seed(1)
    convolution = Convolution(4, 6, 3, dilation=dilation, masked=True)
    x = torch.randn(2, 11, 4)
    past, found = convolution.initial_past(2, x), []
    for place in range(11):
        y, past = convolution.step(x[:, place], past)
        assert past.shape == (2, 2 * dilation, 4)
        found.append(y)
    torch.testing.assert_close(torch.stack(found, dim=1), convolution(x), atol=1e-6, rtol=0)
