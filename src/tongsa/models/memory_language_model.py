"""The memory network as a language model: "End-To-End Memory Networks" (Sukhbaatar et al. 2015), §5.

The memories are the N words before the one to be written, a word each, so no sentence is encoded; and nobody asks a
question, so u^1 is a constant. The hops share their matrices (layer-wise, "RNN-like", §2.2):

    u^1 = (0.1, ..., 0.1)
    p_i = softmax(u^T (A x_i + T_A(i)))                      over the N words before         Eq. 1
    o   = sum_i p_i (C x_i + T_C(i))                                                         Eq. 2
    u^(k+1) = H u^k + o^k, then ReLU on half of the units                                    §2.2, §5
    the next word ~ softmax(W u^(K+1))                                                       Eq. 3

A text is read many words at a time. Neighbouring words share all but one of their memories, so the products u^T A x are
taken for a whole piece of text at once, and each word's own N of them are the band beside the diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, pad

QUESTION = 0.1
"""Every component of u^1 (§5)."""
H_AT_FIRST = 0.7
"""H begins as so much of the identity."""


@dataclass(frozen=True, kw_only=True)
class MemoryLanguageModelShape:
    """Everything that says which weights there are."""

    words: int
    d: int = 150
    hops: int = 6
    memories: int = 100
    """N: words that it looks back."""


class MemoryLanguageModel(nn.Module):
    """The next word from hops over the words before it."""

    def __init__(self, shape: MemoryLanguageModelShape, p_drop: float = 0.0) -> None:
        super().__init__()
        self.shape = shape
        self.p_drop = p_drop
        self.a = nn.Embedding(shape.words, shape.d)
        self.c = nn.Embedding(shape.words, shape.d)
        self.t_a = nn.Parameter(torch.empty(shape.memories, shape.d))
        self.t_c = nn.Parameter(torch.empty(shape.memories, shape.d))
        self.h = nn.Linear(shape.d, shape.d, bias=False)
        self.w = nn.Linear(shape.d, shape.words, bias=False)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.05)  # §5
        # Not the paper's, which begins with noise here too: what a hop found then fades before the last one, and the
        # first few hundred updates go by without learning anything but how frequent each word is.
        with torch.no_grad():
            nn.init.eye_(self.h.weight).mul_(H_AT_FIRST)

    def forward(self, text: Tensor, seen: list[Tensor] | None = None) -> Tensor:
        """Logits (batch, L, words) of the words after each of the last L, from text (batch, N - 1 + L).

        `seen` collects p (batch, L, N), one tensor a hop; its last column is the word just before.
        """
        return self.w(self.features(text, seen))  # type: ignore[no-any-return]

    def features(self, text: Tensor, seen: list[Tensor] | None = None) -> Tensor:
        """u^(K+1) (batch, L, d)"""
        a, c = self._drop(self.a(text)), self._drop(self.c(text))  # (batch, N - 1 + L, d)
        d, memories = self.shape.d, self.shape.memories
        u = a.new_full((len(text), text.shape[1] - memories + 1, d), QUESTION)
        for _ in range(self.shape.hops):
            p = torch.softmax(band(u @ a.mT, memories) + u @ self.t_a.T, dim=-1)  # (batch, L, N)
            o = unband(p, a.shape[1]) @ c + p @ self.t_c
            linear, rectified = (self.h(u) + o).split([d - d // 2, d // 2], dim=-1)
            u = torch.cat([linear, torch.relu(rectified)], dim=-1)
            if seen is not None:
                seen.append(p.detach())
        return self._drop(u)

    def _drop(self, x: Tensor) -> Tensor:
        """Not in the paper: without it the model learns a small corpus by heart within a few passes."""
        return dropout(x, self.p_drop, self.training)


def band(scores: Tensor, width: int) -> Tensor:
    """(batch, L, width - 1 + L) -> (batch, L, width): of row j the columns j ... j + width - 1.

    Rows that are one element longer than the matrix's shift by one column a row: the band becomes the first columns.
    """
    rows, columns = scores.shape[1:]
    return pad(scores.flatten(1), (0, rows)).view(-1, rows, columns + 1)[:, :, :width]


def unband(p: Tensor, columns: int) -> Tensor:
    """The other way, with zeros beside the band: (batch, L, width) -> (batch, L, columns)."""
    rows, width = p.shape[1:]
    return pad(p, (0, columns + 1 - width)).flatten(1)[:, : rows * columns].view(-1, rows, columns)
