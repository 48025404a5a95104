"""A convolution over the positions of a sequence, as one matrix product.

On a CPU, laying a kernel's inputs side by side and multiplying once is as fast as any convolution of PyTorch's, and
sequences keep the layout (batch, positions, channels) of everything else.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Convolution(nn.Module):
    """y_i = W [x_(i - d(k-1)/2); ...; x_i; ...; x_(i + d(k-1)/2)] + b,   kernel width k, dilation d

    A masked one ends at x_i, so that no position sees a later one. Zeros stand beyond both ends.
    """

    def __init__(self, inputs: int, outputs: int, width: int, *, dilation: int = 1, masked: bool = False) -> None:
        super().__init__()
        self.width, self.dilation = width, dilation
        self.reach = dilation * (width - 1)
        """Positions besides its own that an output sees the span of."""
        self.before = self.reach if masked else self.reach // 2
        self.linear = nn.Linear(width * inputs, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, positions, inputs) -> (batch, positions, outputs)"""
        positions = x.shape[1]
        padded = nn.functional.pad(x, (0, 0, self.before, self.reach - self.before))
        taps = [padded[:, tap * self.dilation :][:, :positions] for tap in range(self.width)]
        return self.linear(torch.cat(taps, dim=-1))  # type: ignore[no-any-return]

    def nothing(self, rows: int, like: Tensor) -> Tensor:
        """The inputs before the first position (rows, reach, inputs)."""
        return like.new_zeros(rows, self.reach, self.linear.in_features // self.width)

    def step(self, x: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
        """One position (batch, inputs) of a masked convolution, given the `reach` inputs before it; and those after."""
        window = torch.cat([past, x[:, None]], dim=1)
        return self.linear(window[:, :: self.dilation].flatten(1)), window[:, 1:]
