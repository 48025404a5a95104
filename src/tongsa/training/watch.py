"""What the leading worker tells of a training: the bar, log.jsonl, TensorBoard; and a translator to look at early."""

from __future__ import annotations

import math
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tongsa.base.progress import Show
from tongsa.models.weights import named_weights
from tongsa.runs.card import Card, Provenance, Score
from tongsa.runs.directory import Run
from tongsa.runs.job import Job
from tongsa.runs.log import RunLog
from tongsa.training.checkpoint import Progress
from tongsa.training.loop import Step, Trainer, Watcher
from tongsa.training.validation import Validation


class Leader:
    """A context in which a trainer is watched."""

    def __init__(self, directory: Path, trainer: Trainer, show: Show) -> None:
        self.directory, self.trainer, self.show = directory, trainer, show
        self._stack = ExitStack()

    def __enter__(self) -> Watcher:
        self.log = RunLog(Run(self.directory).log_file)
        self._stack.callback(self.log.close)
        self.board = _tensorboard(self.directory)
        start = self.trainer.progress
        recipe, job = self.trainer.recipe, self.trainer.job
        self.log.write(
            "resume" if start.update else "start",
            start.update,
            start.seconds,
            recipe=recipe.to_values(),
            parameters=sum(parameter.numel() for parameter in self.trainer.model.parameters()),
            pairs=len(self.trainer.data.train),
            processes=self.trainer.team.size,
            threads=job.threads,
        )
        total = 60 * job.options.minutes if job.options.minutes else recipe.training.updates
        self._by_time = bool(job.options.minutes)
        self._shown = start.seconds if self._by_time else float(start.update)
        self.bar = self._stack.enter_context(self.show.bar("training", total, "s" if self._by_time else "updates"))
        self.bar.advance(self._shown)
        return Watcher(updated=self.updated, validated=self.validated, saved=self.saved)

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def updated(self, step: Step, progress: Progress) -> None:
        now = progress.seconds if self._by_time else float(progress.update)
        speed = progress.target_tokens / max(progress.seconds, 1e-9)
        note = f"loss {step.log_loss:.3f}  {speed:,.0f} tokens/s  update {progress.update:,}"
        if progress.score is not None:
            note += f"  BLEU {progress.score:.1f}"
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

    def validated(self, validation: Validation, progress: Progress) -> None:
        perplexity = math.exp(min(validation.log_loss, 100))
        self.show.say(
            f"update {progress.update:,} ({progress.seconds / 60:.1f} minutes): validation loss "
            f"{validation.log_loss:.3f}, perplexity {perplexity:.2f}, BLEU {validation.bleu:.2f}"
        )
        self._write("validation", progress, log_loss=validation.log_loss, perplexity=perplexity, bleu=validation.bleu)
        if progress.best_update == progress.update:
            card = card_of(self.trainer.job, self.trainer, {"bleu": Score(validation.bleu, "greedy")})
            Run(self.directory).write_translator(card, named_weights(self.trainer.model))

    def saved(self, progress: Progress) -> None:
        self._write("checkpoint", progress)

    def _write(self, event: str, progress: Progress, **values: Any) -> None:
        self.log.write(event, progress.update, progress.seconds, **values)
        if self.board:
            for name, value in values.items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    self.board.add_scalar(f"{event}/{name}", value, progress.update)


def card_of(job: Job, trainer: Trainer, scores: dict[str, Score]) -> Card:
    progress = trainer.progress
    return Card(
        source=job.options.source,
        target=job.options.target,
        recipe=trainer.recipe,
        training=provenance(job, progress, len(trainer.data.train)),
        scores=scores,
    )


def provenance(job: Job, progress: Progress, pairs: int) -> Provenance:
    return Provenance(
        corpora=job.options.corpora,
        examples=pairs,
        updates=progress.update,
        epochs=progress.position.epoch,
        target_tokens=progress.target_tokens,
        minutes=round(progress.seconds / 60, 2),
        seed=job.options.seed,
    )


def _tensorboard(directory: Path) -> Any:
    """A writer where TensorBoard is installed (the extra `tensorboard`), else nothing."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(Run(directory).tensorboard)
