"""Chunks that do not fit into memory."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tongsa.base.errors import TrainingError
from tongsa.data.batches import Batch
from tongsa.models.contracts import Seq2Seq
from tongsa.models.loss import Loss
from tongsa.runs.directory import Run
from tongsa.tasks.translation import TranslationObjective
from tongsa.training.loop import Callbacks, Step, Trainer
from tongsa.training.memory import elements
from tongsa.training.workers import ProcessGroup, WorkerError

CPU = "[enforce fail at alloc_cpu.cpp:124] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."
ERRORS: list[Callable[[], Exception]] = [
    lambda: torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB."),
    lambda: RuntimeError(CPU),
    MemoryError,
]


@pytest.fixture(scope="module")
def prepared(train_here: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("memory") / "t"
    settings = {"training.updates": "1", "training.chunk_tokens": "200", "training.batch_tokens": "800"}
    train_here(out, {**settings, "subwords.sampling": "0.0", "model.dropout": "0.0"})
    return out


@pytest.fixture
def trainer(prepared: Path, tmp_path: Path) -> Callable[..., Trainer]:
    def make(group: ProcessGroup | None = None) -> Trainer:
        copy = tmp_path / "copy"
        if not copy.exists():
            shutil.copytree(prepared, copy, ignore=shutil.ignore_patterns("checkpoints"))
        recipe, job = Run(copy).read_job()
        return Trainer(Run(copy), recipe.with_settings({"training.updates": "2"}), job, group or ProcessGroup())

    return make


class Small(TranslationObjective):
    """Has memory for batches of so many elements; a larger one fails in the midst of its backward pass."""

    def limit(self, most: int, error: Callable[[], Exception]) -> None:
        self.most, self.error = most, error
        self.sizes: list[int] = []

    def loss(self, model: Seq2Seq, batch: Batch) -> Loss:
        self.sizes.append(elements(batch))
        found = super().loss(model, batch)
        if self.sizes[-1] > self.most:

            def fail(gradient: torch.Tensor) -> None:
                hook.remove()
                raise self.error()

            hook = next(iter(model.parameters())).register_hook(fail)
        return found


def limited(subject: Trainer, most: int, error: Callable[[], Exception] = ERRORS[1]) -> Small:
    objective = subject.objective
    assert isinstance(objective, TranslationObjective)
    objective.__class__ = Small
    assert isinstance(objective, Small)
    objective.limit(most, error)
    return objective


def update(subject: Trainer) -> Step:
    """The first update."""
    _, chunks = next(subject.objective.order.updates(subject.progress.position))
    return subject.update(chunks)


@pytest.fixture
def whole(trainer: Callable[..., Trainer]) -> tuple[Step, torch.Tensor, int]:
    """The first update with enough memory: what it says, its gradient, and its largest batch."""
    subject = trainer()
    objective = limited(subject, 10**9)
    step = update(subject)
    return step, subject.optimizer.gradient.clone(), max(objective.sizes)


@pytest.mark.parametrize(("error", "share"), list(zip(ERRORS, [0.6, 0.2, 0.2], strict=True)))
def test_a_chunk_that_does_not_fit_is_halved_until_it_does_with_the_same_gradient(
    trainer: Callable[..., Trainer],
    whole: tuple[Step, torch.Tensor, int],
    error: Callable[[], Exception],
    share: float,
) -> None:
    expected, gradient, largest = whole
    subject = trainer()
    objective = limited(subject, int(share * largest), error)
    said: list[str] = []
    subject.callbacks = Callbacks(on_split=said.append)
    step = update(subject)
    torch.testing.assert_close(subject.optimizer.gradient, gradient, atol=1e-6, rtol=1e-4)
    assert step.tokens == expected.tokens
    assert step.loss == pytest.approx(expected.loss, rel=1e-5)
    assert said
    assert all("out of memory with" in text and "from now on at most" in text for text in said)
    failures = [size for size in objective.sizes if size > objective.most]
    assert len(failures) == len(said), "what is known not to fit is not tried again"
    objective.sizes.clear()
    update(subject)
    assert max(objective.sizes) <= objective.most


def test_a_worker_that_splits_stays_in_step_with_one_that_does_not(
    trainer: Callable[..., Trainer], whole: tuple[Step, torch.Tensor, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sums of two workers, one of which runs out of memory: as many tokens, and the same gradient."""
    _, gradient, largest = whole
    for collective in ("sum", "broadcast"):
        monkeypatch.setattr(ProcessGroup, collective, lambda self, tensor: None)
    messages = []
    for rank in range(2):
        subject = trainer(ProcessGroup(rank, 2))
        limited(subject, largest // 3 if rank else 10**9)
        subject.optimizer.clip = lambda norm, largest: None  # type: ignore[method-assign]
        step = update(subject)
        messages.append((subject.optimizer.gradient * step.tokens, step.tokens))
    total = sum(tokens for _, tokens in messages)
    summed = torch.stack([part for part, _ in messages]).sum(dim=0) / total
    torch.testing.assert_close(summed, gradient, atol=1e-6, rtol=1e-4)


def test_a_single_example_that_does_not_fit_ends_the_training_with_the_reason(
    trainer: Callable[..., Trainer],
) -> None:
    subject = trainer()
    limited(subject, 0)
    with pytest.raises(WorkerError, match="out of memory with a single example") as caught:
        update(subject)
    assert "can't allocate memory" in str(caught.value)
    assert isinstance(caught.value, TrainingError)


def test_other_errors_are_not_taken_for_a_lack_of_memory(trainer: Callable[..., Trainer]) -> None:
    subject = trainer()
    limited(subject, 0, lambda: RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        update(subject)


def test_halves_of_a_chunk_have_random_numbers_of_their_own(trainer: Callable[..., Trainer]) -> None:
    """Otherwise both would have the same dropout."""
    subject = trainer()
    seeds = []
    batch = subject.objective.batch

    def noted(rows: Any, seed: int) -> Any:
        seeds.append(seed)
        return batch(rows, seed)

    subject.objective.batch = noted  # type: ignore[method-assign]
    subject.most_elements = 1
    subject._add_gradient(np.arange(4), 0)
    assert len(seeds) == len(set(seeds)) == 7
