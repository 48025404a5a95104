"""The memory network as a language model: "End-To-End Memory Networks" (Sukhbaatar et al. 2015), §5.

The memories are the N words before the one to be written, a word each, so no sentence is encoded; and there is no
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
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from tongsa.config.architectures import MAX_LAYERS, MAX_POSITIONS, MAX_WIDTH, ModelSection
from tongsa.config.complexity import MEMORY_HOP, Facts
from tongsa.config.sections import bounds
from tongsa.models.contracts import NO_MEMORY, Decoder, State, Tree
from tongsa.models.dropout import dropout

QUESTION = 0.1
"""Every component of u^1 (§5)."""
INITIAL_H = 0.7
"""H begins as this multiple of the identity."""


@dataclass(frozen=True, kw_only=True)
class MemoryLanguageModelSection(ModelSection):
    """The memory network of §5; the paper's larger model has d = 500 and 7 hops."""

    architecture: Literal["memory-language-model"] = "memory-language-model"
    """Name of the architecture; d_model is d."""
    d_model: int = 150
    """d, the width of embeddings and hops."""
    hops: int = 6
    """K, how many times the model attends to the words before (§2.2)."""
    memories: int = 100
    """N, how many words before it the model attends to."""

    @property
    def context(self) -> int:
        return self.memories - 1

    def facts(self, n: float) -> Facts:
        layers = f"{self.hops} hops"
        return Facts(kind=MEMORY_HOP, layers=layers, d=self.d_model, decoder_path="–", sees=self.memories)

    def problems(self) -> list[str]:
        found = bounds(self, hops=(1, MAX_LAYERS), memories=(1, MAX_POSITIONS))
        return super().problems() + found + bounds(self, d_model=(2, MAX_WIDTH))


class MemoryLanguageModel(Decoder):
    """The next word from hops over the words before it.

    Its memory, as search and training give it, holds the N - 1 tokens (batch, N - 1) before the target; without one
    there is nothing but `<pad>` before it.
    """

    section = MemoryLanguageModelSection

    def __init__(self, config: MemoryLanguageModelSection, size: int) -> None:
        super().__init__()
        self.config = config
        d = config.d_model
        self.pad = size - 1
        self.a = nn.Embedding(size, d, padding_idx=self.pad)
        self.c = nn.Embedding(size, d, padding_idx=self.pad)
        self.t_a = nn.Parameter(torch.empty(config.memories, d))
        self.t_c = nn.Parameter(torch.empty(config.memories, d))
        self.h = nn.Linear(d, d, bias=False)
        self.w = nn.Linear(d, size, bias=False)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.05)  # §5
        with torch.no_grad():
            # Not the paper's, which begins with noise here too: what a hop found then fades before the last one, and
            # the first few hundred updates go by without learning anything but how frequent each word is.
            nn.init.eye_(self.h.weight).mul_(INITIAL_H)
            for table in (self.a, self.c):
                table.weight[self.pad].zero_()

    def features(self, memory: Tree, target: Tensor) -> Tensor:
        """u^(K+1) (batch, L, d)"""
        return self._hops(torch.cat([self._before(memory, target), target], dim=1), None)

    def attend(self, memory: Tree, target: Tensor) -> list[Tensor]:
        """p (batch, L, N), one tensor a hop; its last column is the word just before."""
        seen: list[Tensor] = []
        self._hops(torch.cat([self._before(memory, target), target], dim=1), seen)
        return seen

    def start(self, memory: Tree) -> State:
        """Between two steps it knows the N - 1 tokens before; without a memory the first step makes them."""
        return State(memory=NO_MEMORY, cache=memory)

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        text = torch.cat([self._before(state.cache, tokens[:, None]), tokens[:, None]], dim=1)  # (batch, N)
        return self.project(self._hops(text, None)[:, 0]), State(state.memory, text[:, 1:])

    def projection(self) -> Tensor:
        return self.w.weight

    def _before(self, memory: Tree, target: Tensor) -> Tensor:
        if isinstance(memory, Tensor):
            return memory
        return target.new_full((len(target), self.config.memories - 1), self.pad)

    def _hops(self, text: Tensor, seen: list[Tensor] | None) -> Tensor:
        """u^(K+1) (batch, L, d) at each of the last L tokens of text (batch, N - 1 + L)."""
        a, c = self._dropout(self.a(text)), self._dropout(self.c(text))  # (batch, N - 1 + L, d)
        d, memories = self.config.d_model, self.config.memories
        u = a.new_full((len(text), text.shape[1] - memories + 1, d), QUESTION)
        for _ in range(self.config.hops):
            p = torch.softmax(band(u @ a.mT, memories) + u @ self.t_a.T, dim=-1)  # (batch, L, N)
            o = unband(p, a.shape[1]) @ c + p @ self.t_c
            linear, rectified = (self.h(u) + o).split([d - d // 2, d // 2], dim=-1)
            u = torch.cat([linear, torch.relu(rectified)], dim=-1)
            if seen is not None:
                seen.append(p.detach())
        return self._dropout(u)

    def _dropout(self, x: Tensor) -> Tensor:
        """Not in the paper: without it the model learns a small corpus by heart within a few passes."""
        return dropout(x, self.config.dropout if self.training else 0.0)


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
