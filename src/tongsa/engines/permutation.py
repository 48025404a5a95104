"""The residual stream in another order.

The paper interleaves sines and cosines along the width of the model, Marian has all sines before all cosines. A
Transformer whose stream is permuted everywhere it is written to and read from computes the same logits:

    columns of the embeddings; columns of q, k, v, linear_1; rows and biases of w_o, linear_2; every LayerNorm.
"""

from __future__ import annotations

import torch
from torch import Tensor

READING = ("w_q.weight", "w_k.weight", "w_v.weight", "linear_1.weight", "embedding.weight", "output.weight")
"""Matrices whose columns are the stream."""
WRITING = ("w_o.weight", "w_o.bias", "linear_2.weight", "linear_2.bias")
"""Matrices whose rows are the stream, and their biases."""
NORMS = ("norm.weight", "norm.bias")


def sines_first(width: int) -> Tensor:
    """0, 2, 4, ..., 1, 3, 5, ...: where each place of Marian's stream is found in the paper's."""
    return torch.cat([torch.arange(0, width, 2), torch.arange(1, width, 2)])


def interleaved(width: int) -> Tensor:
    """The inverse: where each place of the paper's stream is found in Marian's."""
    return torch.argsort(sines_first(width))


def permuted(weights: dict[str, Tensor], order: Tensor) -> dict[str, Tensor]:
    """The same Transformer with its stream in this order."""
    return {name: _permute(name, tensor, order) for name, tensor in weights.items()}


def _permute(name: str, tensor: Tensor, order: Tensor) -> Tensor:
    if name.endswith(READING):
        return tensor[:, order].contiguous()
    if name.endswith((*WRITING, *NORMS)):
        return tensor[order].contiguous()
    return tensor
