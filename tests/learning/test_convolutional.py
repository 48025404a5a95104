"""The convolutional systems must learn: to copy and to reverse sequences that they have not seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from tongsa.config import ByteNetSection, ConvS2SSection, ModelSection, NeuralGPUSection, TrainingSection
from tongsa.decoding import Search, Special, decode
from tongsa.models import build
from tongsa.models.contract import Seq2Seq
from tongsa.training.loss import linear_cross_entropy
from tongsa.training.optimizer import FlatAdam
from tongsa.training.schedule import learning_rate

LETTERS, PAD, END = 10, 12, 0

Task = Callable[[Tensor], Tensor]


class Lesson(NamedTuple):
    config: ModelSection
    peak: float
    updates: int
    length: int


LESSONS = {
    "convs2s": Lesson(
        ConvS2SSection(encoder_layers=1, decoder_layers=1, d_model=48, dropout=0.0, max_positions=12), 0.01, 250, 6
    ),
    "bytenet": Lesson(ByteNetSection(d_model=64, sets=1, max_dilation=4, dropout=0.0), 0.005, 250, 6),
    # Its steps are one after the other, so it is slow: shorter sequences.
    "extended-neural-gpu": Lesson(
        NeuralGPUSection(d_model=32, rows=1, layers=1, unfold_b=1, dropout=0.0), 0.015, 250, 4
    ),
}


def draw(rows: int, length: int, generator: torch.Generator) -> Tensor:
    return torch.randint(2, 2 + LETTERS, (rows, length), generator=generator)


def taught(lesson: Lesson, task: Task) -> Seq2Seq:
    torch.manual_seed(1)
    model = build(lesson.config, PAD + 1, None)
    section = TrainingSection(schedule="cosine", peak=lesson.peak, warmup=50, updates=lesson.updates)
    adam = FlatAdam(model, section)
    generator = torch.Generator().manual_seed(1)
    for update in range(1, lesson.updates + 1):
        source = draw(64, lesson.length, generator)
        target = task(source)
        read = torch.cat([torch.full((64, 1), PAD), target], dim=1)
        labels = torch.cat([target, torch.full((64, 1), END)], dim=1)
        adam.clear()
        features = model.features(source, torch.ones_like(source, dtype=torch.bool), read).flatten(0, 1)
        linear_cross_entropy(features, model.projection(), labels.flatten(), 0.1).smoothed.backward()
        adam.gradient /= labels.numel()
        adam.gradient *= min(1.0, 1.0 / float(adam.gradient.norm()))
        adam.step(learning_rate(section, lesson.config.d_model, update, update / lesson.updates))
    return model.eval()


@pytest.mark.parametrize("task", [lambda x: x, lambda x: x.flip(1)], ids=["copy", "reverse"])
@pytest.mark.parametrize("name", LESSONS)
def test_a_small_one_learns_to(name: str, task: Task) -> None:
    """Most of the sequences of the test it has never seen: there are many more than it is shown."""
    lesson = LESSONS[name]
    model = taught(lesson, task)
    source = draw(200, lesson.length, torch.Generator().manual_seed(99))
    mask = torch.ones_like(source, dtype=torch.bool)
    found = decode(model, source, mask, Search(beam=4, max_extra=3), Special(start=PAD, end=END))
    right = sum(
        a == b
        for (best, *_), row in zip(found, task(source).tolist(), strict=True)
        for a, b in zip(best.ids, row, strict=False)
    )
    assert right / source.numel() > 0.95
    assert sum(len(best.ids) == lesson.length for best, *_ in found) / 200 > 0.95
