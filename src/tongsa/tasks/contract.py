"""What a model is trained for, as the trainer sees it. To add a task, write one file like translation.py.

    Task       prepare: corpora -> data in the run directory     evaluate, publish: weights -> something to use
      └─ open ──▶ Objective    one training: order and batches of the examples, the model, its loss, its validation

The trainer knows nothing else: not of pairs, of two languages, or of any metric by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

import torch
from torch import Tensor, nn

from tongsa.base.progress import Show
from tongsa.config import Recipe, TrainingSection
from tongsa.data.batches import Position, Rows
from tongsa.models.loss import Loss
from tongsa.runs.card import Card, Score
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions


class Batch(Protocol):
    """Tensors of some examples."""

    def to(self, device: torch.device) -> Self: ...


class Order(Protocol):
    """In which order a training goes through its examples: a pure function of the seed and the epoch."""

    def updates(self, start: Position) -> Iterator[tuple[Position, list[Rows]]]:
        """The chunks of every update from `start` on, each with the position behind it; without end."""

    def share(self, chunks: list[Rows], rank: int, size: int) -> list[int]:
        """Which of an update's chunks the worker `rank` of `size` takes."""


class Workers(Protocol):
    """The processes that train together; all of them validate together."""

    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...

    def sum(self, tensor: Tensor) -> None:
        """Replace the tensor by its sum over the workers."""

    def gather_rows(self, rows: dict[int, list[int]], count: int) -> list[list[int]]:
        """Lists of ids, of which each worker has some, collected on all of them."""


class SingleWorker:
    """A process that works alone."""

    rank = 0
    size = 1

    def sum(self, tensor: Tensor) -> None:
        pass

    def gather_rows(self, rows: dict[int, list[int]], count: int) -> list[list[int]]:
        return [rows[row] for row in range(count)]


M = TypeVar("M", bound=nn.Module)
B = TypeVar("B", bound=Batch)
P = TypeVar("P")


class Objective(ABC, Generic[M, B]):
    """What one training minimises, with its data opened. Every worker has one."""

    order: Order
    examples: int
    """How many there are to train on."""
    selects: str
    """Name of the metric (of evaluation.metrics.METRICS) that selects checkpoints; `validate` computes it."""

    @abstractmethod
    def build(self) -> M:
        """A model with fresh weights, drawn from torch's random numbers."""

    @abstractmethod
    def batch(self, rows: Rows, seed: int) -> B:
        """These examples; whatever is random about them is a function of the seed."""

    @abstractmethod
    def loss(self, model: M, batch: B) -> Loss:
        """Sums over the batch, and how many tokens (or other things) they are sums over."""

    @abstractmethod
    def validate(self, model: M, workers: Workers) -> Mapping[str, Score]:
        """Scores on the validation set by name of the metric, the same on all workers; the model is in eval mode."""

    def begin_stage(self, model: M, stage: int) -> None:
        """Called before the first update, when a training is resumed, and when a new stage begins."""

    def stage_ends(self, stage: int, validations_since_best: int, fraction: float) -> bool:
        """Whether this validation was the last of the stage: learning rate, budget and best score then begin anew.

        `fraction` is the part of the stage's budget that is used.
        """
        return False


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """How good some weights are."""

    scores: Mapping[str, Score]
    """By the name of the metric; the one that selects checkpoints is among them."""
    confidence: tuple[tuple[float, float], ...] = ()
    """For the card."""
    examples: Sequence[Mapping[str, Any]] = ()
    """Validation examples with the model's output, as JSON: one a line of the run directory's examples file."""


class Task(ABC, Generic[P]):
    """What a model is trained for; `P` is what a finished training gives: a Translator, for example."""

    name: str

    @abstractmethod
    def prepare(self, run: Run, options: TrainOptions, show: Show) -> Recipe:
        """Write everything that training reads into the run directory; return the recipe, as far as it is decided."""

    @abstractmethod
    def open(self, run: Run, recipe: Recipe, options: TrainOptions) -> Objective[Any, Any]:
        """Open what `prepare` wrote."""

    @abstractmethod
    def evaluate(self, run: Run, card: Card, weights: Mapping[str, Tensor], device: str) -> Evaluation:
        """Score weights that may be published, on the validation set."""

    @abstractmethod
    def publish(self, run: Run, card: Card, evaluation: Evaluation, device: str, show: Show) -> P:
        """Card and weights are written: write the report, say what to do next, and load the result."""


def reduced_precision(section: TrainingSection, device: torch.device) -> AbstractContextManager[Any]:
    """A context in which products are computed in bfloat16, where the recipe says so and the device is a GPU."""
    enabled = section.precision == "bfloat16" and device.type == "cuda"
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled)
