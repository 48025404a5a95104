"""Matrix products in bfloat16 on a CPU: twice as fast as in float32 where the CPU has instructions for them.

Sums within a product are float32, and so is everything else: weights, sums of gradients, LayerNorm, softmax. A model is
written as if there were only float32: inside `bfloat16_products` its linear maps go through `linear` below.

PyTorch's own autocast keeps activations in bfloat16 between the products too, where a CPU is slow: a training with it
takes longer than one in float32.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

PADDING = 128
"""Numbers of rows are multiples of this: oneDNN generates code for every shape, which takes a millisecond or more, and
keeps it for a thousand shapes."""

WORTH = 0.75
"""Time of a product in bfloat16, relative to float32, below which it is used: the conversions take time too."""


class bfloat16_products(TorchFunctionMode):
    """Inside this context, every `torch.nn.functional.linear` of float32 tensors is computed in bfloat16."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if function is nn.functional.linear:
            return linear(*args, **(kwargs or {}))
        return function(*args, **(kwargs or {}))


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """xW^T + b, where x and W are rounded to bfloat16, and so are the products of the backward pass."""
    return _Linear.apply(input, weight, bias)  # type: ignore[no-any-return, no-untyped-call]


def padded_bfloat16(rows: Tensor) -> Tensor:
    """Rows in bfloat16, with zeros up to a multiple of PADDING of them."""
    count = len(rows)
    narrow = torch.empty(-(-count // PADDING) * PADDING, rows.shape[1], dtype=torch.bfloat16)
    narrow[:count] = rows
    narrow[count:] = 0
    return narrow


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        rows, narrow = padded_bfloat16(x.flatten(0, -2)), weight.bfloat16()
        ctx.save_for_backward(rows, narrow)
        ctx.biased = bias is not None
        out = (rows @ narrow.t())[: x.shape[:-1].numel()].float()
        if bias is not None:
            out += bias
        return out.view(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        rows, weight = ctx.saved_tensors
        wide = gradient.flatten(0, -2)
        narrow = padded_bfloat16(wide)
        to_x = None
        if ctx.needs_input_grad[0]:
            to_x = (narrow @ weight)[: len(wide)].float().view(*gradient.shape[:-1], -1)
        to_weight = (narrow.t() @ rows).float() if ctx.needs_input_grad[1] else None
        to_bias = wide.sum(dim=0) if ctx.biased and ctx.needs_input_grad[2] else None
        return to_x, to_weight, to_bias


def bfloat16_is_faster() -> bool:
    """Whether this CPU multiplies matrices in bfloat16 clearly faster than in float32: measured, in some milliseconds.

    What a CPU can do is not enough: environment variables may forbid the libraries to use it.
    """
    x, weight = torch.ones(512, 256), torch.ones(256, 256)
    narrow_x, narrow_weight = x.bfloat16(), weight.bfloat16()
    try:
        times = [(_seconds(narrow_x, narrow_weight), _seconds(x, weight)) for _ in range(8)]
    except RuntimeError:  # the library has no kernel for it here
        return False
    # Other work on the machine only makes a product slower, so the fastest of several tells most.
    return min(in_bfloat16 for in_bfloat16, _ in times) < WORTH * min(in_float32 for _, in_float32 in times)


def _seconds(x: Tensor, weight: Tensor) -> float:
    began = time.perf_counter()
    x @ weight
    return time.perf_counter() - began
