"""Which positions of an input reach an output: exactly those with a gradient."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


def reached(embedding: nn.Embedding, output: Callable[[], Tensor]) -> list[int]:
    """The positions whose embeddings `output` depends on; it reads one sentence."""
    kept: list[Tensor] = []

    def keep(module: nn.Module, arguments: object, embedded: Tensor) -> Tensor:
        kept.append(embedded.detach().requires_grad_())
        return kept[-1]

    hook = embedding.register_forward_hook(keep)
    try:
        found = output()
    finally:
        hook.remove()
    # A weighted sum: a plain one could be a constant, as that of a normalised vector is.
    weights = torch.linspace(0.5, 2.0, found.numel()).view_as(found)
    (gradient,) = torch.autograd.grad((found * weights).sum(), kept[0])
    return [place for place, vector in enumerate(gradient[0]) if bool(vector.abs().max() > 0)]
