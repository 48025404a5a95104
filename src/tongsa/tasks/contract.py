"""The interface between a task and the trainer. To add a task, write one file like translation.py.

    Task       prepare: corpora -> data in the run directory     evaluate, publish: weights -> something to use
      └─ open ──▶ Objective    one training: order and batches of the examples, the model, its loss, its validation

The trainer knows nothing else: it has no notion of pairs, languages or particular metrics.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tongsa.base.errors import UsageError
from tongsa.base.progress import Show
from tongsa.config import Recipe, TrainingSection
from tongsa.data.batches import Position, Rows
from tongsa.models.loss import FREQUENT, Loss, draw_candidates, linear_cross_entropy
from tongsa.models.products import bfloat16_products
from tongsa.runs.card import Card, ConfidenceWeights, Score
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions

IDS_COUNTED = 2_000_000
"""About how many tokens of a text are counted to find its frequent pieces."""


class Batch(Protocol):
    """Tensors of a batch of examples."""

    def to(self, device: torch.device) -> Self: ...


class Order(Protocol):
    """The order in which a training visits its examples: a pure function of the seed and the epoch."""

    def updates(self, start: Position) -> Iterator[tuple[Position, list[Rows]]]:
        """An endless iterator over the updates from `start` on: the position after each, and its chunks."""

    def share(self, chunks: list[Rows], rank: int, size: int) -> list[int]:
        """Indices of the chunks of an update that worker `rank` of `size` processes."""


class Workers(Protocol):
    """The processes that train together; all of them validate together."""

    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...

    def sum(self, tensor: Tensor) -> None:
        """Replace the tensor by its sum over the workers."""

    def gather_rows(self, rows: dict[int, list[int]], count: int) -> list[list[int]]:
        """Collect on every worker the lists of ids that are spread over the workers."""


class SingleWorker:
    """The only worker of a training in one process."""

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
    """What a training minimises, with its data opened. Every worker has its own."""

    order: Order
    examples: int
    """Number of training examples."""
    selects: str
    """Name of the metric (of evaluation.metrics.METRICS) that selects checkpoints; `validate` computes it."""

    validations_can_wait: bool = True
    """Whether a validation that takes too much of a budget in minutes may be left out."""
    validation_tokens: int = 0
    """Tokens of the validation set, or other units that the loss is averaged over."""
    validation_characters: int = 0
    """Characters of the text that these tokens are of, each end counted as one; losses of different vocabularies can
    be compared per character. 0 if the task does not tell."""

    @abstractmethod
    def build(self) -> M:
        """A model with freshly initialised weights, drawn from torch's global random generator."""

    def initialise(self, model: M) -> None:
        """Change the weights before the first update of a training that does not start with given ones.

        Called on the CPU of the main process alone; the others receive its weights.
        """

    @abstractmethod
    def batch(self, rows: Rows, seed: int) -> B:
        """A batch of these examples; all randomness in it is a function of the seed."""

    @abstractmethod
    def loss(self, model: M, batch: B) -> Loss:
        """The loss summed over the batch, and the number of tokens (or other units) in the sum."""

    @abstractmethod
    def validate(self, model: M, workers: Workers) -> Mapping[str, Score]:
        """Scores on the validation set by metric name, the same on all workers; the model is in eval mode."""

    def quick_scores(self, model: M, workers: Workers) -> Mapping[str, Score]:
        """The scores of `validate` that cost little: the loss at least."""
        return self.validate(model, workers)

    def is_promising(self, scores: Mapping[str, Score]) -> bool:
        """Whether the quick scores promise that the others are worth their time."""
        return True

    def slow_scores(self, model: M, workers: Workers) -> Mapping[str, Score]:
        """The scores of `validate` that `quick_scores` leaves out."""
        return {}

    def begin_stage(self, model: M, stage: int) -> None:
        """Called before the first update, when a training is resumed, and when a new stage begins."""

    def stage_ends(self, stage: int, validations_since_best: int, fraction: float) -> bool:
        """Whether the stage ends with this validation; learning rate, budget and best score are then reset.

        `fraction` is the fraction of the stage's budget that has been used.
        A task whose stages end so sets `validations_can_wait` to False.
        """
        return False


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """How well a set of weights performs."""

    scores: Mapping[str, Score]
    """Scores by metric name, including the metric that selects checkpoints."""
    search: str = ""
    """How translations were searched for: `greedy`, `beam 4, length penalty 0.6`."""
    calibration: ConfidenceWeights | None = None
    """Weights of the model's confidence, for the card."""
    one_sentence: bool = False
    """Whether lines of the training text hold one sentence each, for the card."""
    examples: Sequence[Mapping[str, Any]] = ()
    """Validation examples with the model's output, as JSON: one per line of the run directory's examples file."""


class Task(ABC, Generic[P]):
    """What a model is trained for; `P` is the type that a finished training returns, such as Translator."""

    name: str

    @abstractmethod
    def prepare(self, run: Run, options: TrainOptions, show: Show) -> Recipe:
        """Write everything that training reads into the run directory; return the recipe, as far as it is known."""

    @abstractmethod
    def open(self, run: Run, recipe: Recipe, options: TrainOptions) -> Objective[Any, Any]:
        """Open what `prepare` wrote."""

    @abstractmethod
    def evaluate(self, run: Run, card: Card, weights: Mapping[str, Tensor], device: str) -> Evaluation:
        """Score candidate weights on the validation set."""

    def further_scores(self, card: Card, evaluation: Evaluation) -> Mapping[str, Score]:
        """Scores of the chosen weights alone, which would take too long for every candidate."""
        return {}

    @abstractmethod
    def publish(self, run: Run, card: Card, evaluation: Evaluation, device: str, show: Show) -> P:
        """Write the report, print what to do next, and load the result. Card and weights are already written."""


def reduced_precision(section: TrainingSection, device: torch.device) -> AbstractContextManager[Any]:
    """A context that computes products in bfloat16 if the recipe asks for it."""
    if section.precision != "bfloat16":
        return nullcontext()
    return bfloat16_products() if device.type == "cpu" else torch.autocast(device.type, torch.bfloat16)


def frequent_pieces(section: TrainingSection, ids: NDArray[np.integer], size: int) -> Tensor | None:
    """A mask of the pieces that a sampled softmax always includes, by their number in the text; None for a full one."""
    if section.softmax == "full":
        return None
    counts = np.bincount(ids[:: max(1, len(ids) // IDS_COUNTED)], minlength=size)
    frequent = torch.zeros(size, dtype=torch.bool)
    frequent[torch.from_numpy(np.argsort(-counts, kind="stable")[: round(FREQUENT * size)])] = True
    return frequent


def token_loss(
    section: TrainingSection, features: Tensor, table: Tensor, labels: Tensor, frequent: Tensor | None = None
) -> Loss:
    """The smoothed loss of tokens from their features; on a GPU, its products are float32.

    If the recipe asks for a sampled softmax, `frequent` is a mask of the pieces that it always includes.
    """
    bfloat16 = section.precision == "bfloat16" and features.device.type == "cpu"
    candidates = None if frequent is None else draw_candidates(labels, frequent.to(labels.device))
    return linear_cross_entropy(
        features.float(), table, labels, section.label_smoothing, bfloat16=bfloat16, candidates=candidates
    )


def refuse_what_translation_alone_has(options: TrainOptions, what: str) -> None:
    """Raise an error if options are set that only a translator can be trained with; `what` is trained instead."""
    given = [name for name in ("init", "mix", "subwords", "teacher") if getattr(options, name)]
    if given:
        raise UsageError(f"{what} cannot be trained with {', '.join(f'--{name}' for name in given)}")
