"""A convolution over the positions of a sequence, as one matrix product.

On a CPU, laying a kernel's inputs side by side and multiplying once is as fast as any convolution of PyTorch's, and
sequences keep the layout (batch, positions, channels) of everything else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

MAX_KERNEL = 1001


def odd(kernel: int) -> list[str]:
    """The problem of an even kernel width, for a section to report."""
    return [] if kernel % 2 else [f"kernel is {kernel}; it must be odd, to see as much before a position as after it"]


class Convolution(nn.Module):
    """y_i = W [x_(i - d(k-1)/2); ...; x_i; ...; x_(i + d(k-1)/2)] + b,   kernel width k, dilation d

    A masked one ends at x_i, so that no position sees a later one. Zeros stand beyond both ends.
    """

    def __init__(self, inputs: int, outputs: int, width: int, *, dilation: int = 1, masked: bool = False) -> None:
        super().__init__()
        self.width, self.dilation = width, dilation
        self.reach = dilation * (width - 1)
        """Positions from the first to the last input of an output, without its own."""
        self.before = self.reach if masked else self.reach // 2
        self.linear = nn.Linear(width * inputs, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, positions, inputs) -> (batch, positions, outputs)"""
        taps = [tap * self.dilation - self.before for tap in range(self.width)]
        return self.linear(neighbours(x, 1, taps))  # type: ignore[no-any-return]

    def initial_past(self, rows: int, like: Tensor) -> Tensor:
        """The inputs before the first position (rows, reach, inputs)."""
        return like.new_zeros(rows, self.reach, self.linear.in_features // self.width)

    def step(self, x: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
        """One position (batch, inputs) of a masked convolution, given the `reach` inputs before it; and those after."""
        window = torch.cat([past, x[:, None]], dim=1)
        return self.linear(window[:, :: self.dilation].flatten(1)), window[:, 1:]


def neighbours(x: Tensor, dim: int, offsets: Iterable[int]) -> Tensor:
    """Side by side in the last dimension, for every place of dimension `dim`: what stands so many places after it.

    Zeros stand beyond the ends. `torch.cat` of slices would do, but their gradients are as many buffers of zeros.
    """
    return _Neighbours.apply(x, dim, tuple(offsets))  # type: ignore[no-any-return, no-untyped-call]


class _Neighbours(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int, offsets: tuple[int, ...]) -> Tensor:
        ctx.dim, ctx.offsets = dim, offsets
        length = x.shape[dim]
        out = x.new_empty(*x.shape[:-1], len(offsets) * x.shape[-1])
        for part, offset in zip(out.chunk(len(offsets), dim=-1), offsets, strict=True):
            here, there, inside = _overlap(length, offset)
            part.narrow(dim, here, inside).copy_(x.narrow(dim, there, inside))
            part.narrow(dim, 0, here).zero_()
            part.narrow(dim, here + inside, length - here - inside).zero_()
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        parts = gradients[0].chunk(len(ctx.offsets), dim=-1)
        total = torch.zeros_like(parts[0], memory_format=torch.contiguous_format)
        for part, offset in zip(parts, ctx.offsets, strict=True):
            here, there, inside = _overlap(part.shape[ctx.dim], offset)
            total.narrow(ctx.dim, there, inside).add_(part.narrow(ctx.dim, here, inside))
        return total, None, None


def _overlap(length: int, offset: int) -> tuple[int, int, int]:
    """The first place that has a neighbour at this offset, that neighbour, and how many have one."""
    inside = max(0, length - abs(offset))
    return min(length, max(0, -offset)), min(length, max(0, offset)), inside
