"""Lessons for small models: to copy and to reverse sequences, most of which they have never seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from tongsa.config import ModelSection, TrainingSection
from tongsa.config.schedules import Moment, learning_rate
from tongsa.decoding import Search, Special, decode
from tongsa.models import build
from tongsa.models.contracts import Seq2Seq
from tongsa.models.loss import linear_cross_entropy
from tongsa.training.optimizer import FlatOptimizer

LETTERS, PAD, END = 10, 12, 0

Task = Callable[[Tensor], Tensor]

TASKS: dict[str, Task] = {"copy": lambda x: x, "reverse": lambda x: x.flip(1)}


class Lesson(NamedTuple):
    config: ModelSection
    length: int
    peak: float = 0.01
    updates: int = 250
    warmup: int = 50
    smoothing: float = 0.1
    source_ends: bool = False
    """The source has an end behind it, as sentences have."""


def taught(lesson: Lesson, task: Task) -> Seq2Seq:
    torch.manual_seed(1)
    model = build(lesson.config, PAD + 1, None)
    section = TrainingSection(schedule="cosine", peak=lesson.peak, warmup=lesson.warmup, updates=lesson.updates)
    adam = FlatOptimizer(model, section)
    generator = torch.Generator().manual_seed(1)
    for update in range(1, lesson.updates + 1):
        letters = _draw(64, lesson.length, generator)
        target = task(letters)
        source = _source(lesson, letters)
        read, labels = torch.cat([torch.full((64, 1), PAD), target], dim=1), _with_end(target)
        adam.clear()
        features = model.features(model.encode(source, torch.ones_like(source, dtype=torch.bool)), read).flatten(0, 1)
        linear_cross_entropy(features, model.projection(), labels.flatten(), lesson.smoothing).total.backward()
        adam.gradient /= labels.numel()
        adam.gradient *= min(1.0, 1.0 / float(adam.gradient.norm()))
        adam.step(
            learning_rate(
                section, Moment(update=update, fraction=update / lesson.updates, d_model=lesson.config.d_model)
            )
        )
    return model.eval()


def rightness(lesson: Lesson, task: Task) -> tuple[float, float]:
    """Of new sequences: the share of tokens that are right, and of outputs that are as long as they should be."""
    model = taught(lesson, task)
    letters = _draw(200, lesson.length, torch.Generator().manual_seed(99))
    source = _source(lesson, letters)
    mask = torch.ones_like(source, dtype=torch.bool)
    found = decode(model, source, mask, Search(beam=4, max_extra=3), Special(start=PAD, end=END))
    right = sum(
        a == b
        for (best, *_), row in zip(found, task(letters).tolist(), strict=True)
        for a, b in zip(best.ids, row, strict=False)
    )
    return right / letters.numel(), sum(len(best.ids) == lesson.length for best, *_ in found) / 200


def _draw(rows: int, length: int, generator: torch.Generator) -> Tensor:
    return torch.randint(2, 2 + LETTERS, (rows, length), generator=generator)


def _source(lesson: Lesson, letters: Tensor) -> Tensor:
    return _with_end(letters) if lesson.source_ends else letters


def _with_end(letters: Tensor) -> Tensor:
    return torch.cat([letters, torch.full((len(letters), 1), END)], dim=1)
