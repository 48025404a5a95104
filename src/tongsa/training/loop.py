"""The training loop, for any task. Every worker runs it; the main one also logs and writes checkpoints.

Everything that the workers must agree on (loss, number of tokens, used budget, whether to stop) is appended to the
gradient and summed with it once per update, so they never diverge.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from tongsa.base.errors import TrainingError
from tongsa.config import Recipe
from tongsa.config.schedules import Moment, learning_rate
from tongsa.data.batches import Position, Rows
from tongsa.evaluation.metrics import METRICS
from tongsa.models.weights import load_weights, named_weights, read_tensors
from tongsa.runs.card import Score
from tongsa.runs.directory import Run
from tongsa.runs.job import Job
from tongsa.tasks import TASKS
from tongsa.tasks.contract import Objective
from tongsa.training.checkpoint import Progress, latest, prune, save_checkpoint
from tongsa.training.memory import TooLargeError, elements, fitting, release_memory
from tongsa.training.optimizer import FlatOptimizer
from tongsa.training.validating import SHARE, SHARE_TO_SELECT, ValidationTime
from tongsa.training.workers import ProcessGroup, freed_memory_kept

VALIDATIONS = 20
"""Number of validations and checkpoints in a training, unless the recipe sets the interval; fewer validations if they
would take too much of a budget in minutes."""

MAX_BAD_UPDATES = 3
"""Consecutive updates with a non-finite gradient before training stops."""


class DivergedError(TrainingError):
    """The gradient was not finite in several updates in a row."""


class End(enum.IntEnum):
    """Whether an update is the last, and why."""

    NOT_YET = 0
    BUDGET_USED = 1
    INTERRUPTED = 2


class Step(NamedTuple):
    """The result of an update, known to all workers."""

    loss: float
    log_loss: float
    tokens: int
    """Number of tokens in the update, or of whatever the loss is averaged over."""
    gradient_norm: float
    rate: float
    fraction: float
    """Fraction of the budget used, including this update."""
    end: End
    skipped: bool
    """The gradient was not finite, and the weights are unchanged."""


@dataclass
class Callbacks:
    """Hooks for the events of a training; they do nothing except in the main process."""

    on_update: Callable[[Step, Progress], None] = lambda step, progress: None
    on_validating: Callable[[], None] = lambda: None
    """A validation begins."""
    on_validation: Callable[[Mapping[str, Score], Progress], None] = lambda scores, progress: None
    on_checkpoint: Callable[[Progress], None] = lambda progress: None
    on_split: Callable[[str], None] = lambda text: None
    """A chunk did not fit into memory."""


class Trainer:
    """Trains a prepared run directory, starting from its last checkpoint."""

    def __init__(self, run: Run, recipe: Recipe, job: Job, group: ProcessGroup) -> None:
        self.files, self.recipe, self.job, self.group = run, recipe, job, group
        self.section = recipe.training
        self.device = torch.device(job.device)
        self.objective: Objective[Any, Any] = TASKS.find(job.options.task).open(run, recipe, job.options)
        self.metric = METRICS.find(self.objective.selects)
        torch.manual_seed(job.options.seed)
        self.model: nn.Module = self.objective.build()
        checkpoint = latest(run.checkpoints)
        if job.options.begins_with:
            load_weights(self.model, read_tensors(run.initial_weights_file))
        elif group.is_main and not checkpoint:
            self.objective.initialise(self.model)
        self.model.to(self.device)
        self.optimizer = FlatOptimizer(self.model, self.section, extra=5, group=group)
        self.progress = Progress()
        self.bad_updates = 0
        self.stopping = False
        """Set by a signal (Ctrl-C) in any process: all workers stop after the current update."""
        self.callbacks = Callbacks()
        self.validation_time = self._limited_validations()
        self.most_elements = math.inf
        """Largest batch that fits into memory, in elements of its tensors, as far as it is known."""
        if checkpoint:
            load_weights(self.model, checkpoint.weights())
            self.optimizer.load(checkpoint.moments())
            self.progress = checkpoint.progress()
        else:
            group.broadcast(self.optimizer.weights.data)
        self.objective.begin_stage(self.model, self.progress.stage)
        self._began = time.monotonic() - self.progress.seconds

    @freed_memory_kept()
    def run(self, callbacks: Callbacks) -> End:
        """Update until the budget is used, the score stops improving, or the user interrupts."""
        if self._used(self.progress.update, self.progress.seconds) >= 1 or self._out_of_patience():
            return End.BUDGET_USED
        self.callbacks = callbacks
        self.model.train()
        for position, chunks in self.objective.order.updates(self.progress.position):
            step = self.update(chunks)
            validating = self._validation_due(step)
            self.progress = self._advanced(step, position)
            callbacks.on_update(step, self.progress)
            if validating:
                self._validate(callbacks)
            if validating or step.end or self._checkpoint_due():
                self._save(callbacks)
            if step.end:
                return step.end
            if self._out_of_patience():  # all workers know the score, so they agree
                return End.BUDGET_USED
        raise AssertionError("an order of updates has no end")

    def update(self, chunks: list[Rows]) -> Step:
        """One optimizer step on the sum of the chunks' gradients; each worker computes its share of the chunks."""
        optimizer = self.optimizer
        while not self._add_gradients(chunks):
            release_memory(self.device)
        if self.group.is_main:
            used = self._used(self.progress.update + 1, self._seconds())
            optimizer.extra[3:] = torch.tensor([used, End.BUDGET_USED if used >= 1 else End.NOT_YET])
        if self.stopping:
            optimizer.extra[4] += End.INTERRUPTED
        self.group.sum(optimizer.message)
        loss, log_loss, tokens, fraction, ends = optimizer.extra.tolist()
        end = End(min(int(ends), End.INTERRUPTED))
        optimizer.gradient /= tokens
        norm = float(optimizer.gradient.norm())
        rate = learning_rate(self.section, self._moment(fraction))
        skipped = not math.isfinite(norm)
        if skipped:
            self._count_bad(norm)
        else:
            self.bad_updates = 0
            optimizer.clip(norm, self.section.clip)
            optimizer.step(rate)
        step = Step(loss / tokens, log_loss / tokens, int(tokens), norm, rate, fraction, end, skipped)
        return step._replace(fraction=self._fraction(fraction))

    def _fraction(self, sent: float) -> float:
        """The fraction of the budget, from the one that the main process sent, which is only of single precision."""
        by_updates = min(1.0, (self.progress.update + 1 - self.progress.stage_began) / self.section.updates)
        return max(sent, by_updates) if self.job.minutes else by_updates

    def _add_gradients(self, chunks: list[Rows]) -> bool:
        """Add up the gradients of this worker's chunks; return False if one did not fit, to begin again with less."""
        self.optimizer.clear()
        try:
            for index in self.objective.order.share(chunks, self.group.rank, self.group.size):
                self._add_gradient(chunks[index], index)
        except TooLargeError as error:
            self.most_elements = error.elements // 2
            self.callbacks.on_split(str(error))
            return False
        return True

    def _add_gradient(self, rows: Rows, *index: int) -> None:
        """The random numbers of a chunk (dropout, subword sampling) are a function of seed, update and chunk alone.

        A chunk that is known not to fit into memory is halved; the sum of the gradients is the same.
        """
        key = (self.job.options.seed, self.progress.update, *index)
        seed = int(np.random.SeedSequence(key).generate_state(1)[0])
        torch.manual_seed(seed)
        batch = self.objective.batch(rows, seed)
        if len(rows) > 1 and elements(batch) > self.most_elements:
            for number, half in enumerate(np.array_split(rows, 2), start=1):
                self._add_gradient(half, *index, number)
            return
        with fitting(batch, len(rows)):
            loss = self.objective.loss(self.model, batch.to(self.device))
            loss.total.backward()
        self.optimizer.extra[0] += loss.total.detach()
        self.optimizer.extra[1] += loss.log_loss
        self.optimizer.extra[2] += loss.count

    def _moment(self, fraction: float) -> Moment:
        return Moment(
            update=self.progress.update + 1 - self.progress.stage_began,
            fraction=fraction,
            d_model=self.recipe.model.d_model,
            stage=self.progress.stage,
        )

    def _count_bad(self, norm: float) -> None:
        self.bad_updates += 1
        if self.bad_updates == MAX_BAD_UPDATES:
            raise DivergedError(
                f"the gradient was not finite ({norm}) in {MAX_BAD_UPDATES} updates in a row, "
                f"the last being update {self.progress.update + 1:,}",
                "The learning rate is likely too high: lower training.peak, or lengthen training.warmup.",
                f"The last checkpoint is safe. Continue:  tongsa resume {self.files.path} --set training.peak=...",
            )

    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _used(self, update: int, seconds: float) -> float:
        """The fraction of the budget (updates of this stage or minutes, whichever is further) that is used."""
        minutes = self.job.minutes
        by_time = seconds / (60 * minutes) if minutes else 0.0
        return min(1.0, max((update - self.progress.stage_began) / self.section.updates, by_time))

    def _out_of_patience(self) -> bool:
        return 0 < self.section.patience <= self.progress.validations_since_best

    def _advanced(self, step: Step, position: Position) -> Progress:
        return dataclasses.replace(
            self.progress,
            update=self.progress.update + 1,
            position=position,
            seconds=self._seconds(),
            target_tokens=self.progress.target_tokens + step.tokens,
            fraction=step.fraction,
        )

    def _validation_due(self, step: Step) -> bool:
        if not self.job.options.validates:
            return False
        if step.end:
            return step.end == End.BUDGET_USED
        if self.section.validate_every:
            return (self.progress.update + 1) % self.section.validate_every == 0
        return int(step.fraction * VALIDATIONS) > int(self.progress.fraction * VALIDATIONS)

    def _checkpoint_due(self) -> bool:
        every = self.section.checkpoint_every
        return every > 0 and self.progress.update % every == 0

    def _limited_validations(self) -> ValidationTime | None:
        """A limit for validations, if the budget is in minutes and nothing relies on the score of every checkpoint."""
        minutes, section = self.job.minutes, self.section
        relied_on = section.validate_every or section.patience or not self.objective.validations_can_wait
        if not minutes or relied_on:
            return None
        return ValidationTime(60 * minutes, SHARE_TO_SELECT if section.average_of == "best" else SHARE)

    def _agreed(self, decision: bool) -> bool:
        """What the main process decides by its clock, known to all workers."""
        decided = torch.tensor([float(decision and self.group.is_main)], device=self.device)
        self.group.sum(decided)
        return bool(decided > 0)

    def _validate(self, callbacks: Callbacks) -> None:
        """Compute the scores, or those that the time for validations pays for, if it is limited."""
        if not self._affords_quick_scores():
            self.progress = dataclasses.replace(self.progress, score=None)
            return
        callbacks.on_validating()
        self.model.eval()
        began = time.monotonic()
        scores = self._scores(self.validation_time)
        self.model.train()
        spent = self.progress.validation_seconds + time.monotonic() - began
        self.progress = dataclasses.replace(self.progress, validation_seconds=spent)
        self._compare(scores)
        callbacks.on_validation(scores, self.progress)
        if self.objective.stage_ends(self.progress.stage, self.progress.validations_since_best, self.progress.fraction):
            self._begin_stage(self.progress.stage + 1)

    def _affords_quick_scores(self) -> bool:
        limit, progress = self.validation_time, self.progress
        if limit is None:
            return True
        spent = progress.validation_seconds
        speed = progress.target_tokens / max(progress.seconds - spent, 1e-9)
        tokens = self.objective.validation_tokens
        return self._agreed(limit.affords_quick(spent, progress.fraction, tokens=tokens, speed=speed))

    def _scores(self, limit: ValidationTime | None) -> Mapping[str, Score]:
        if limit is None:
            return self.objective.validate(self.model, self.group)
        began = time.monotonic()
        quick = self.objective.quick_scores(self.model, self.group)
        middle = time.monotonic()
        limit.quick = middle - began
        affordable = limit.affords_rest(self.progress.validation_seconds + limit.quick, self.progress.fraction)
        if not self._agreed(affordable and self.objective.is_promising(quick)):
            return quick
        slow = self.objective.slow_scores(self.model, self.group)
        limit.rest = time.monotonic() - middle
        return {**quick, **slow}

    def _compare(self, scores: Mapping[str, Score]) -> None:
        """Compare the score that selects checkpoints with the best one so far, if it was computed."""
        if self.metric.name not in scores:
            self.progress = dataclasses.replace(self.progress, score=None)
            return
        score = scores[self.metric.name].score
        better = self.metric.better(score, self.progress.best_score)
        self.progress = dataclasses.replace(
            self.progress,
            score=score,
            best_score=score if better else self.progress.best_score,
            best_update=self.progress.update if better else self.progress.best_update,
            validations_since_best=0 if better else self.progress.validations_since_best + 1,
        )

    def _begin_stage(self, stage: int) -> None:
        """Start the next stage: reset the learning rate, the budget of updates and the best score."""
        self.progress = dataclasses.replace(
            self.progress,
            stage=stage,
            stage_began=self.progress.update,
            fraction=0.0,
            score=None,
            best_score=None,
            validations_since_best=0,
        )
        self.objective.begin_stage(self.model, stage)

    def _save(self, callbacks: Callbacks) -> None:
        if self.group.is_main:
            root = self.files.checkpoints
            save_checkpoint(root, named_weights(self.model), self.optimizer.state(), self.progress)
            best_by = self.metric if self.section.average_of == "best" else None
            prune(root, self.section.average, best_by, self.section.snapshots)
        callbacks.on_checkpoint(self.progress)
