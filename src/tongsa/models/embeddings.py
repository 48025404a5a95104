"""Embeddings of tokens (§3.4) and of positions: sinusoids (§3.5), or learned ones (Table 3, row E)."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

Tables = tuple[nn.Embedding, nn.Embedding, nn.Embedding]


FEWEST_POSITIONS = 512
"""Rows that a table of sinusoids has at least, once it is needed."""


def tables(source_size: int, target_size: int | None, width: int, tied: bool) -> Tables:
    """The tables of source, target and output (§3.4); sizes count the pieces and `<pad>`, the last row, which is zero.

    No target size means a joint vocabulary: with `tied`, one table serves all three, else source and target have one
    each. With two vocabularies, `tied` joins the decoder's two tables.
    """
    source = table(source_size, width)
    target = source if target_size is None and tied else table(target_size or source_size, width)
    return source, target, target if tied else table(target_size or source_size, width)


def table(size: int, width: int) -> nn.Embedding:
    return nn.Embedding(size, width, padding_idx=size - 1)


def sinusoids(length: int, d_model: int) -> Tensor:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model))          §3.5

    (length, d_model), sines and cosines interleaved as the paper writes them.
    """
    position = torch.arange(length, dtype=torch.float64)[:, None]
    rate = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    table = torch.empty(length, d_model, dtype=torch.float64)
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate)
    return table.float()


class Positions(nn.Module, ABC):
    """Encodings of positions, and how they reach the embeddings."""

    @abstractmethod
    def forward(self, first: int, length: int) -> Tensor:
        """(length, d_model): the encodings of positions first .. first + length - 1."""

    def join(self, x: Tensor, first: int) -> Tensor:
        """The embeddings x (batch, length, d_model) of positions from `first` on, plus their encodings (§3.5)."""
        return x + self(first, x.shape[1])  # type: ignore[no-any-return]


class SinusoidalPositions(Positions):
    """The table of sinusoids, which grows with the longest sequence and is not part of the weights."""

    table: Tensor

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.register_buffer("table", torch.empty(0, d_model), persistent=False)

    def forward(self, first: int, length: int) -> Tensor:
        if first + length > len(self.table):
            with torch.inference_mode(False):  # what is made while translating also serves a training
                longer = sinusoids(max(FEWEST_POSITIONS, 2 * (first + length)), self.table.shape[1])
                self.table = longer.to(self.table)
        return self.table[first : first + length]


class LearnedPositions(Positions):
    """A trained vector for each of the first `length` positions; longer sequences cannot be read."""

    def __init__(self, d_model: int, length: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(length, d_model))

    def forward(self, first: int, length: int) -> Tensor:
        return self.weight[first : first + length]
