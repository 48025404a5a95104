"""Small Transformers, and batches for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tongsa.config import TransformerSection
from tongsa.models.contracts import token_mask
from tongsa.models.transformer import Transformer

Maker = Callable[..., Transformer]

SMALL = {"encoder_layers": 2, "decoder_layers": 3, "d_model": 16, "d_ff": 24, "heads": 4, "dropout": 0.0}


@pytest.fixture
def make() -> Maker:
    """A small Transformer; keys of its section change it. Weights are the same for the same seed."""

    def maker(sizes: tuple[int, int | None] = (12, None), seed: int = 1, **changes: Any) -> Transformer:
        torch.manual_seed(seed)
        return Transformer(TransformerSection(**{**SMALL, **changes}), *sizes)

    return maker


@pytest.fixture
def batch() -> tuple[Tensor, Tensor, Tensor]:
    """Sources of 5, 3 and 4 tokens, and what the decoder reads; 11 is `<pad>`."""
    source = torch.tensor([[2, 3, 4, 5, 0], [6, 7, 0, 11, 11], [8, 2, 9, 0, 11]])
    target = torch.tensor([[11, 3, 3, 7], [11, 10, 11, 11], [11, 2, 9, 11]])
    return source, token_mask(torch.tensor([5, 3, 4]), 5), target
