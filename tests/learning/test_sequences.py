"""A small Transformer must learn: to copy and to reverse sequences that it has not seen."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
import torch
from torch import Tensor

from tongsa.config import TrainingSection, TransformerSection
from tongsa.config.schedules import Moment, learning_rate
from tongsa.decoding import Search, Special, decode
from tongsa.models.contracts import token_mask
from tongsa.models.loss import linear_cross_entropy
from tongsa.models.transformer import Transformer
from tongsa.training.optimizer import FlatOptimizer

LETTERS, LENGTH, PAD, END = 10, 6, 12, 0

Task = Callable[[Tensor], Tensor]


def draw(rows: int, generator: torch.Generator) -> Tensor:
    return torch.randint(2, 2 + LETTERS, (rows, LENGTH), generator=generator)


@cache
def taught(task: Task, updates: int) -> Transformer:
    torch.manual_seed(1)
    config = TransformerSection(encoder_layers=1, decoder_layers=1, d_model=48, d_ff=96, heads=4, dropout=0.0)
    model = Transformer(config, PAD + 1)
    section = TrainingSection(schedule="cosine", peak=0.005, warmup=50, updates=updates)
    adam = FlatOptimizer(model, section)
    generator = torch.Generator().manual_seed(1)
    for update in range(1, updates + 1):
        source = draw(64, generator)
        target = task(source)
        read = torch.cat([torch.full((64, 1), PAD), target], dim=1)
        labels = torch.cat([target, torch.full((64, 1), END)], dim=1)
        mask = torch.ones_like(source, dtype=torch.bool)
        adam.clear()
        features = model.features(model.encode(source, mask), read).flatten(0, 1)
        linear_cross_entropy(features, model.projection(), labels.flatten(), 0.1).total.backward()
        adam.gradient /= labels.numel()
        adam.step(learning_rate(section, Moment(update=update, fraction=update / updates, d_model=config.d_model)))
    return model.eval()


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("task", [lambda x: x, lambda x: x.flip(1)], ids=["copy", "reverse"])
def test_a_small_transformer_learns_to(task: Task, beam: int) -> None:
    """Of a million possible sequences it sees a few thousand; those of the test are drawn anew."""
    model = taught(task, updates=260)
    source = draw(200, torch.Generator().manual_seed(99))
    mask = token_mask(torch.full((200,), LENGTH), LENGTH)
    found = decode(model, source, mask, Search(beam=beam, max_extra=3), Special(start=PAD, end=END))
    right = sum(
        a == b
        for (best, *_), row in zip(found, task(source).tolist(), strict=True)
        for a, b in zip(best.ids, row, strict=False)
    )
    assert right / source.numel() > 0.95
    assert sum(len(best.ids) == LENGTH for best, *_ in found) / 200 > 0.95
