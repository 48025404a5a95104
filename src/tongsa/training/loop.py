"""The training loop. Every worker runs it; the one that leads also logs and writes checkpoints.

What the workers must agree on (the sum of the losses, the tokens, how far the budget is used, whether to stop) travels
behind the gradient in the one sum of each update, so they never drift apart.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from tongsa.base.errors import TrainingError
from tongsa.config import Recipe
from tongsa.data.batches import Plan, Position, Rows, assemble
from tongsa.data.prepare import Prepared
from tongsa.models.contracts import Seq2Seq
from tongsa.models.loss import linear_cross_entropy
from tongsa.models.weights import build_model, load_weights, named_weights, read_tensors
from tongsa.runs.directory import Run
from tongsa.runs.job import Job
from tongsa.training.checkpoint import Progress, latest, prune, save_checkpoint
from tongsa.training.distributed import Team
from tongsa.training.optimizer import FlatAdam
from tongsa.training.schedule import learning_rate
from tongsa.training.validation import Validation, validate

VALIDATIONS = 20
"""In a training, unless the recipe says how often."""

BAD_UPDATES = 3
"""In a row: then the training stops."""


class End(enum.IntEnum):
    """Whether an update is the last, and why."""

    NOT_YET = 0
    BUDGET_USED = 1
    ASKED_TO = 2


class Step(NamedTuple):
    """What the workers know together after an update."""

    loss: float
    log_loss: float
    tokens: int
    gradient_norm: float
    rate: float
    fraction: float
    """Of the budget, used with this update."""
    end: End
    skipped: bool
    """The gradient was not finite, and the weights stayed as they were."""


@dataclass
class Watcher:
    """What the leading worker does with what happens; the others do nothing."""

    updated: Callable[[Step, Progress], None] = lambda step, progress: None
    validated: Callable[[Validation, Progress], None] = lambda validation, progress: None
    saved: Callable[[Progress], None] = lambda progress: None


class Trainer:
    def __init__(self, directory: Path, recipe: Recipe, job: Job, team: Team) -> None:
        self.directory, self.recipe, self.job, self.team = directory, recipe, job, team
        self.section = recipe.training
        self.device = torch.device(job.device)
        self.data = Prepared.open(directory)
        self.plan = Plan.of(
            self.data.train,
            batch_tokens=self.section.batch_tokens,
            chunk_tokens=self.section.chunk_tokens,
            seed=job.options.seed,
        )
        torch.manual_seed(job.options.seed)
        subwords = self.data.subwords
        self.model: Seq2Seq = build_model(recipe.model, subwords).to(self.device)
        if job.options.begins_with:
            load_weights(self.model, read_tensors(Run(directory).initial_weights_file))
        self.adam = FlatAdam(self.model, self.section, extra=5, zeros=team.zeros)
        self.progress = Progress()
        self.bad_updates = 0
        self.stopping = False
        """Set (by Ctrl-C) on the leading worker: all stop after the update under way."""
        checkpoint = latest(self.checkpoints)
        if checkpoint:
            load_weights(self.model, checkpoint.weights())
            self.adam.load(checkpoint.moments())
            self.progress = checkpoint.progress()
        self._began = time.monotonic() - self.progress.seconds

    @property
    def checkpoints(self) -> Path:
        return Run(self.directory).checkpoints

    def run(self, watcher: Watcher) -> End:
        """Update until the budget is used, the score no longer rises, or somebody asks to stop."""
        if self._used(self.progress.update, self.progress.seconds) >= 1 or self._out_of_patience():
            return End.BUDGET_USED
        self.model.train()
        for position, chunks in self.plan.updates(self.progress.position):
            step = self.update(chunks)
            validating = self._validation_due(step)
            self.progress = self._advanced(step, position)
            watcher.updated(step, self.progress)
            if validating:
                self._validate(watcher)
            if validating or step.end or self._checkpoint_due():
                self._save(watcher)
            if step.end:
                return step.end
            if self._out_of_patience():  # all workers know the score, so they agree
                return End.BUDGET_USED
        raise AssertionError("the plan has no end")

    def update(self, chunks: list[Rows]) -> Step:
        """One step of Adam on the sum of the chunks' gradients, each worker having its share of them."""
        self.adam.clear()
        for index in self.plan.share(chunks, self.team.rank, self.team.size):
            self._add_gradient(chunks[index], index)
        if self.team.leads:
            self.adam.extra[3:] = torch.tensor([self._used(self.progress.update + 1, self._seconds()), self._end()])
        self.team.sum(self.adam.message)
        loss, log_loss, tokens, fraction, end = self.adam.extra.tolist()
        self.adam.gradient /= tokens
        norm = float(self.adam.gradient.norm())
        rate = learning_rate(self.section, self.recipe.model.d_model, self.progress.update + 1, fraction)
        skipped = not math.isfinite(norm)
        if skipped:
            self._count_bad(norm)
        else:
            self.bad_updates = 0
            if self.section.clip and norm > self.section.clip:
                self.adam.gradient *= self.section.clip / norm
            self.adam.step(rate)
        return Step(loss / tokens, log_loss / tokens, int(tokens), norm, rate, fraction, End(int(end)), skipped)

    def _add_gradient(self, rows: Rows, index: int) -> None:
        """The random numbers of a chunk (dropout, subword sampling) are a function of seed, update and chunk alone."""
        seed = int(np.random.SeedSequence((self.job.options.seed, self.progress.update, index)).generate_state(1)[0])
        torch.manual_seed(seed)
        subwords = self.data.subwords
        batch = assemble(self.data.train, rows, subwords, sampling=self.recipe.subwords.sampling, seed=seed)
        batch = batch.to(self.device)
        half = self.section.precision == "bfloat16" and self.device.type == "cuda"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=half):
            features = self.model.features(self.model.encode(batch.source, batch.source_mask), batch.target)
        real = batch.labels != subwords.target.pad
        loss = linear_cross_entropy(
            features[real].float(), self.model.projection(), batch.labels[real], self.section.label_smoothing
        )
        loss.smoothed.backward()
        self.adam.extra[0] += loss.smoothed.detach()
        self.adam.extra[1] += loss.log_loss
        self.adam.extra[2] += real.sum()

    def _count_bad(self, norm: float) -> None:
        self.bad_updates += 1
        if self.bad_updates == BAD_UPDATES:
            raise TrainingError(
                f"the gradient was not finite ({norm}) in {BAD_UPDATES} updates in a row, "
                f"the last being update {self.progress.update + 1:,}",
                "The learning rate is likely too high: lower training.peak, or lengthen training.warmup.",
                "The last checkpoint is safe:  --resume --set training.peak=...  goes on from it.",
            )

    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _used(self, update: int, seconds: float) -> float:
        """The fraction of the budget (updates or minutes, whichever is further) that is used."""
        by_time = seconds / (60 * self.job.options.minutes) if self.job.options.minutes else 0.0
        return min(1.0, max(update / self.section.updates, by_time))

    def _end(self) -> End:
        if self.stopping:
            return End.ASKED_TO
        used = self._used(self.progress.update + 1, self._seconds()) >= 1
        return End.BUDGET_USED if used else End.NOT_YET

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
        if step.end:
            return step.end == End.BUDGET_USED
        if self.section.validate_every:
            return (self.progress.update + 1) % self.section.validate_every == 0
        return int(step.fraction * VALIDATIONS) > int(self.progress.fraction * VALIDATIONS)

    def _checkpoint_due(self) -> bool:
        every = self.section.checkpoint_every
        return every > 0 and self.progress.update % every == 0

    def _validate(self, watcher: Watcher) -> None:
        found = validate(self.model, self.data, self.team, self.job.options.target)
        better = self.progress.best_score is None or found.bleu > self.progress.best_score
        self.progress = dataclasses.replace(
            self.progress,
            score=found.bleu,
            best_score=found.bleu if better else self.progress.best_score,
            best_update=self.progress.update if better else self.progress.best_update,
            validations_since_best=0 if better else self.progress.validations_since_best + 1,
        )
        watcher.validated(found, self.progress)

    def _save(self, watcher: Watcher) -> None:
        if self.team.leads:
            save_checkpoint(self.checkpoints, named_weights(self.model), self.adam.state(), self.progress)
            prune(self.checkpoints, self.section.average, self.section.average_of == "best")
        watcher.saved(self.progress)
