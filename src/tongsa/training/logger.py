"""Logging in the main process of a training: progress bar, log.jsonl, loggers; also keeps the best model so far."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from tongsa.base.progress import Show
from tongsa.config import Recipe
from tongsa.evaluation.metrics import METRICS
from tongsa.models.weights import named_weights
from tongsa.runs.card import GREEDY, Card, Provenance, Score
from tongsa.runs.directory import Run
from tongsa.runs.job import Job
from tongsa.runs.log import RunLog
from tongsa.runs.loggers import LoggedRun, Loggers
from tongsa.training.checkpoint import Progress
from tongsa.training.loop import Callbacks, Step, Trainer


class TrainingLogger:
    """A context manager that returns the callbacks for a trainer."""

    def __init__(self, run: Run, trainer: Trainer, show: Show) -> None:
        self.files, self.trainer, self.show = run, trainer, show
        self._stack = ExitStack()

    def __enter__(self) -> Callbacks:
        self.log = RunLog(self.files.log_file)
        self._stack.callback(self.log.close)
        start = self.trainer.progress
        recipe, job = self.trainer.recipe, self.trainer.job
        settings = {
            f"{name}.{key}": value for name, section in recipe.to_values().items() for key, value in section.items()
        }
        logged = LoggedRun(directory=self.files.path, settings=settings)
        self.loggers = Loggers(job.options.loggers, logged, self.show.say)
        self._stack.callback(self.loggers.close)
        self.log.write(
            "resume" if start.update else "start",
            start.update,
            start.seconds,
            task=job.options.task,
            recipe=recipe.to_values(),
            parameters=sum(parameter.numel() for parameter in self.trainer.model.parameters()),
            examples=self.trainer.objective.examples,
            processes=self.trainer.group.size,
            threads=job.threads,
        )
        minutes = job.minutes
        self._by_time = bool(minutes)
        total = 60 * minutes if minutes else recipe.training.updates
        self._shown = start.seconds if self._by_time else float(start.update)
        unit = "s" if self._by_time else "updates"
        self.bar = self._stack.enter_context(self.show.bar("training", total, unit, done=self._shown))
        return Callbacks(
            on_update=self.on_update,
            on_validating=lambda: self.bar.advance(0, "validating"),
            on_validation=self.on_validation,
            on_checkpoint=self.on_checkpoint,
            on_split=self.show.say,
        )

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def on_update(self, step: Step, progress: Progress) -> None:
        now = progress.seconds if self._by_time else float(progress.update)
        speed = progress.target_tokens / max(progress.seconds, 1e-9)
        note = f"loss {step.log_loss:.3f}  {speed:,.0f} tokens/s  update {progress.update:,}"
        if progress.score is not None:
            note += f"  {self.trainer.metric.title} {progress.score:.1f}"
        self.bar.advance(now - self._shown, note)
        self._shown = now
        if step.skipped:
            self.show.say(f"update {progress.update:,}: the gradient was not finite; skipped")
        self._write(
            "update",
            progress,
            target_tokens=progress.target_tokens,
            loss=step.loss,
            log_loss=step.log_loss,
            rate=step.rate,
            gradient_norm=step.gradient_norm,
            tokens=step.tokens,
            epoch=progress.position.epoch,
            skipped=step.skipped,
        )

    def on_validation(self, scores: Mapping[str, Score], progress: Progress) -> None:
        values = {name: score.score for name, score in scores.items()}
        shown = ", ".join(
            f"{METRICS[name].title} {METRICS[name].format(score.score)}{' (greedy)' * (score.signature == GREEDY)}"
            for name, score in scores.items()
        )
        self.show.say(f"update {progress.update:,} ({progress.seconds / 60:.1f} minutes): validation {shown}")
        self._write("validation", progress, **values)
        if progress.best_update in (0, progress.update):  # 0: no validation has computed the score that selects yet
            best = self.trainer.metric.name
            card = card_of(self.trainer.recipe, self.trainer.job, progress, self.trainer.objective.examples)
            scored = dataclasses.replace(card, scores={best: scores[best]} if best in scores else {})
            self.files.write_translator(scored, named_weights(self.trainer.model))

    def on_checkpoint(self, progress: Progress) -> None:
        self._write("checkpoint", progress)

    def _write(self, event: str, progress: Progress, **values: Any) -> None:
        self.log.write(event, progress.update, progress.seconds, **values)
        self.loggers.log(event, values, progress.update)


def card_of(recipe: Recipe, job: Job, progress: Progress, examples: int, weights: str = "") -> Card:
    """The card for the current state of the training, without scores."""
    options = job.options
    training = Provenance(
        corpora=options.corpora,
        examples=examples,
        updates=progress.update,
        epochs=progress.position.epoch,
        target_tokens=progress.target_tokens,
        minutes=round(progress.seconds / 60 + (job.spent or 0.0), 2),
        seed=options.seed,
        weights=weights,
    )
    return Card(task=options.task, source=options.source, target=options.target, recipe=recipe, training=training)
