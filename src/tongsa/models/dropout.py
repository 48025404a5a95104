"""Dropout (§5.4), alone and at the end of a sublayer, for a CPU's memory rather than its arithmetic.

PyTorch draws one random number for each element, and keeps masks and sums in buffers of their own. Here a random byte
serves an element, and mask, residual sum and LayerNorm are one function with a backward pass of its own. `plain_*` are
readable versions, which give the same numbers from the same seed. On a GPU, PyTorch's own kernels are used.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def dropout(x: Tensor, p: float) -> Tensor:
    """Zero with probability p, and scale up what is left; p is 0 outside training."""
    if not p:
        return x
    if x.is_cuda:
        return nn.functional.dropout(x, p)
    return _Dropout.apply(x, level(p))  # type: ignore[no-any-return, no-untyped-call]


def dropout_add(x: Tensor, y: Tensor, p: float) -> Tensor:
    """x + Dropout(y)"""
    return x + dropout(y, p)


def dropout_add_norm(x: Tensor, y: Tensor, norm: nn.LayerNorm, p: float) -> Tensor:
    """LayerNorm(x + Dropout(y)): the end of every sublayer of the paper (§3.1)."""
    if x.is_cuda or not torch.is_grad_enabled():
        return norm(x + dropout(y, p))  # type: ignore[no-any-return]
    return _DropoutAddNorm.apply(x, y, norm.weight, norm.bias, norm.eps, level(p))  # type: ignore[no-any-return, no-untyped-call]


def plain_dropout(x: Tensor, p: float) -> Tensor:
    return x * keep_mask(x.shape, level(p)) * _scale(level(p)) if p else x


def plain_dropout_add_norm(x: Tensor, y: Tensor, norm: nn.LayerNorm, p: float) -> Tensor:
    return norm(x + plain_dropout(y, p))  # type: ignore[no-any-return]


def level(p: float) -> int:
    """p in 256ths, since a byte decides: 0.1 becomes 26/256 = 0.1016. What is kept is scaled by just that."""
    return min(255, round(p * 256))


def _scale(level: int) -> float:
    return 256 / (256 - level)


def keep_mask(shape: torch.Size, level: int) -> Tensor:
    """uint8: 1 where an element is kept; torch's generator gives eight bytes at a draw."""
    count = shape.numel()
    words = torch.empty((count + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
    # In place, in bytes: a comparison that makes a bool tensor is not vectorised, and takes many times as long.
    return words.view(torch.uint8)[:count].view(shape).ge_(level)


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, level: int) -> Tensor:
        kept = keep_mask(x.shape, level)
        ctx.save_for_backward(kept)
        ctx.scale = _scale(level)
        return kept.to(x.dtype).mul_(ctx.scale).mul_(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (gradient,) = gradients
        (kept,) = ctx.saved_tensors
        return kept.to(gradient.dtype).mul_(ctx.scale).mul_(gradient), None


class _DropoutAddNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, weight: Tensor, bias: Tensor, eps: float, level: int) -> Tensor:
        kept = keep_mask(y.shape, level) if level else None
        ctx.scale = _scale(level)
        total = x + y if kept is None else torch.addcmul(x, y, kept.to(y.dtype), value=ctx.scale)
        out, mean, rstd = torch.native_layer_norm(total, [total.shape[-1]], weight, bias, eps)
        ctx.save_for_backward(total, mean, rstd, weight, bias, kept)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        total, mean, rstd, weight, bias, kept = ctx.saved_tensors
        to_x, to_weight, to_bias = torch.ops.aten.native_layer_norm_backward(
            gradient, total, [total.shape[-1]], mean, rstd, weight, bias, [True, True, True]
        )
        to_y = to_x if kept is None else kept.to(gradient.dtype).mul_(ctx.scale).mul_(to_x)
        return to_x, to_y, to_weight, to_bias, None, None
