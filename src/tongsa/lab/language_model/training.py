"""Training the memory network as a language model, and its perplexity.

A text is cut into pieces of L words, each with the N - 1 words before it. Nothing else passes between pieces, so they
are drawn in any order, and every epoch cuts at other places.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, pad

from tongsa.models.memory_language_model import MemoryLanguageModel

PASSED_OVER = -100
"""A target that fills up the last piece of a text; cross_entropy leaves it out."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How it is trained. The paper has SGD, annealed by hand; Adam with a cosine needs a tenth of the epochs."""

    epochs: int = 5
    piece: int = 50
    """L: words that are predicted together."""
    batch: int = 20
    """Pieces an update."""
    peak: float = 0.004
    """The highest learning rate, after the warm-up."""
    warmup: int = 100
    clip: float = 1.0
    """Largest norm of an update's gradient."""
    dropout: float = 0.2
    seed: int = 1

    def rate(self, update: int, updates: int) -> float:
        """Up in a line, down in half a cosine."""
        return self.peak * min(1.0, (update + 1) / self.warmup) * 0.5 * (1 + math.cos(math.pi * update / updates))


@dataclass(frozen=True)
class Pieces:
    """A text, cut."""

    text: Tensor
    """(pieces, N - 1 + L)"""
    target: Tensor
    """(pieces, L): the word after each of the last L of `text`"""

    def __len__(self) -> int:
        return len(self.text)


def cut(stream: Tensor, memories: int, length: int) -> Pieces:
    """All words of a stream but its first as targets, each once; before the text there is nothing but its first word.

    The first word of a stream is an <end>, so that is what stands before a text's beginning.
    """
    targets = len(stream) - 1
    filling = -targets % length
    text = torch.cat([stream[:1].expand(memories - 1), stream[:-1], stream[:1].expand(filling)])
    target = pad(stream[1:], (0, filling), value=PASSED_OVER)
    return Pieces(text.unfold(0, memories - 1 + length, length), target.unfold(0, length, length))


class Trainer:
    """Epoch by epoch; each begins from its own seed, so that a training can go on after any of them."""

    def __init__(self, model: MemoryLanguageModel, stream: Tensor, plan: Plan) -> None:
        self.model, self.stream, self.plan = model, stream, plan
        self.optimizer = torch.optim.Adam(model.parameters(), lr=plan.peak, betas=(0.9, 0.99))
        # Cut a little later an epoch has a piece less; the schedule ends with the last of the most there can be.
        self.updates_an_epoch = math.ceil(math.ceil((len(stream) - 1) / plan.piece) / plan.batch)

    def epoch(self, number: int) -> Iterator[tuple[int, float]]:
        """Words and their mean loss, update by update."""
        plan = self.plan
        torch.manual_seed(plan.seed * 10_000 + number)
        shift = int(torch.randint(min(plan.piece, len(self.stream) - 1), ()))
        pieces = cut(self.stream[shift:], self.model.shape.memories, plan.piece)
        self.model.train()
        for place, rows in enumerate(torch.randperm(len(pieces)).split(plan.batch)):
            update = number * self.updates_an_epoch + place
            self.optimizer.param_groups[0]["lr"] = plan.rate(update, plan.epochs * self.updates_an_epoch)
            logits = self.model(pieces.text[rows])
            loss = cross_entropy(logits.flatten(0, 1), pieces.target[rows].flatten(), ignore_index=PASSED_OVER)
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), plan.clip)
            self.optimizer.step()
            yield int((pieces.target[rows] != PASSED_OVER).sum()), float(loss.detach())


@torch.no_grad()
def perplexity(model: MemoryLanguageModel, stream: Tensor, length: int = 50, batch: int = 20) -> float:
    """exp of the mean loss over every word of a stream but its first."""
    model.eval()
    pieces = cut(stream, model.shape.memories, length)
    total = 0.0
    for rows in torch.arange(len(pieces)).split(batch):
        logits, target = model(pieces.text[rows]).flatten(0, 1), pieces.target[rows].flatten()
        total += float(cross_entropy(logits, target, ignore_index=PASSED_OVER, reduction="sum"))
    return math.exp(total / (len(stream) - 1))


@torch.no_grad()
def looks_back(model: MemoryLanguageModel, stream: Tensor, length: int = 50, pieces: int = 40) -> Tensor:
    """(hops, N): mean weight of the word just before, of the one before that, and so on (the paper's Figure 3)."""
    model.eval()
    seen: list[Tensor] = []
    model.features(cut(stream, model.shape.memories, length).text[:pieces], seen)
    return torch.stack([p.mean(dim=(0, 1)).flip(0) for p in seen])
