"""Checkpoints: one folder each, written completely or not at all; safetensors and JSON, never pickle.

checkpoints/00000500/
  weights.safetensors     kept as long as the average may need it
  optimizer.safetensors   the optimizer's state: only resuming needs it, so only the newest checkpoints have it
  progress.json
  checksums.json          of the three; a damaged checkpoint is put aside, and the one before it is used
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from safetensors.torch import save_file
from torch import Tensor

from tongsa.base.checksums import CHECKSUMS, Checksums
from tongsa.base.errors import DirectoryError
from tongsa.base.files import replacing, system_errors
from tongsa.data.batches import Position
from tongsa.evaluation.contracts import Metric
from tongsa.models.weights import read_tensors

WEIGHTS, MOMENTS, PROGRESS = "weights.safetensors", "optimizer.safetensors", "progress.json"

RESUMABLE = 2
"""Number of newest checkpoints that keep the optimizer's state."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The state of a training, except weights and optimizer state."""

    update: int = 0
    position: Position = field(default_factory=Position)
    seconds: float = 0.0
    target_tokens: int = 0
    fraction: float = 0.0
    """Fraction of the budget that has been used."""
    best_score: float | None = None
    best_update: int = 0
    validations_since_best: int = 0
    score: float | None = None
    """Score of the newest validation, by the metric that selects checkpoints."""
    stage: int = 0
    """Number of the stage, for tasks whose training has several."""
    stage_began: int = 0
    """The update after which this stage began."""
    validation_seconds: float = 0.0
    """Part of `seconds` that went into validations."""


@dataclass(frozen=True)
class Checkpoint:
    folder: Path

    @property
    def update(self) -> int:
        return int(self.folder.name)

    @property
    def resumable(self) -> bool:
        return (self.folder / MOMENTS).is_file()

    def weights(self) -> dict[str, Tensor]:
        return read_tensors(self.folder / WEIGHTS)

    def moments(self) -> dict[str, Tensor]:
        return read_tensors(self.folder / MOMENTS)

    def progress(self) -> Progress:
        path = self.folder / PROGRESS
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            return Progress(**{**values, "position": Position(*values["position"])})
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise DirectoryError(f"{path} is damaged: {error}") from error

    def problem(self) -> str | None:
        """What is wrong with its files; None if they are as they were written.

        Checkpoints of older versions have no checksums; theirs are only opened.
        """
        try:
            checksums = Checksums.read(self.folder / CHECKSUMS)
            if checksums is None:
                self.progress()
                return None
        except (ValueError, DirectoryError) as error:
            return str(error)
        names = [PROGRESS, WEIGHTS, *([MOMENTS] if self.resumable else [])]
        return next(filter(None, (checksums.problem(self.folder, name) for name in names)), None)


def save_checkpoint(
    root: Path, weights: dict[str, Tensor], moments: dict[str, Tensor], progress: Progress
) -> Checkpoint:
    folder = root / f"{progress.update:08d}"
    with replacing(folder) as temporary:
        temporary.mkdir()
        with system_errors():
            save_file(weights, temporary / WEIGHTS)
            save_file(moments, temporary / MOMENTS)
        (temporary / PROGRESS).write_text(json.dumps(dataclasses.asdict(progress)), encoding="utf-8")
        checksums = Checksums.of(temporary, [temporary / name for name in (WEIGHTS, MOMENTS, PROGRESS)])
        (temporary / CHECKSUMS).write_text(checksums.to_json(), encoding="utf-8")
    return Checkpoint(folder)


def checkpoints(root: Path) -> list[Checkpoint]:
    """The complete checkpoints, oldest first."""
    found = [folder for folder in root.iterdir() if folder.name.isdigit()] if root.is_dir() else []
    return [Checkpoint(folder) for folder in sorted(found, key=lambda folder: int(folder.name))]


def latest(root: Path) -> Checkpoint | None:
    """The newest checkpoint from which training can be resumed."""
    resumable = [checkpoint for checkpoint in checkpoints(root) if checkpoint.resumable]
    return resumable[-1] if resumable else None


def put_damaged_aside(root: Path, say: Callable[[str], None]) -> None:
    """Hide damaged checkpoints, so that the newest sound one is the latest; an error if none is left.

    Checkpoints that only the average needs are checked when it is computed.
    """
    damaged: dict[Checkpoint, str] = {}
    for checkpoint in reversed([each for each in checkpoints(root) if each.resumable]):
        problem = checkpoint.problem()
        if not problem:
            break
        damaged[checkpoint] = problem
    else:
        if damaged:
            raise DirectoryError(
                f"no checkpoint in {root} can be resumed from",
                *damaged.values(),
                f"Restore one from a copy. To train from the beginning:  remove {root}, then tongsa resume",
            )
    for checkpoint, problem in damaged.items():
        say(f"{problem}; the checkpoint of update {checkpoint.update:,} is left out")
        checkpoint.folder.rename(root / f".{checkpoint.folder.name}.damaged")  # the next prune removes it


def sound(chosen: list[Checkpoint], say: Callable[[str], None]) -> list[Checkpoint]:
    """Those of the checkpoints that are not damaged; the others are reported."""
    problems = {checkpoint: checkpoint.problem() for checkpoint in chosen}
    for checkpoint, problem in problems.items():
        if problem:
            say(f"{problem}; the average is taken without the checkpoint of update {checkpoint.update:,}")
    return [checkpoint for checkpoint, problem in problems.items() if not problem]


def prune(root: Path, keep: int, best_by: Metric | None, snapshots: int = 0) -> None:
    """Keep what resuming and the average need: the newest, and the last (or best) `keep`; and so many snapshots."""
    present = checkpoints(root)
    wanted = {checkpoint.update for checkpoint in to_average(present, keep, best_by)}
    wanted |= set(spread([checkpoint.update for checkpoint in present], snapshots))
    newest = {checkpoint.update for checkpoint in present[-RESUMABLE:]}
    for checkpoint in present:
        if checkpoint.update in newest:
            continue
        if checkpoint.update in wanted:
            (checkpoint.folder / MOMENTS).unlink(missing_ok=True)
        else:  # renamed first: a kill half-way must not leave half a checkpoint that looks complete
            checkpoint.folder.rename(root / f".{checkpoint.folder.name}.old")
    for leftover in root.glob(".[0-9]*.*"):
        shutil.rmtree(leftover, ignore_errors=True)


def spread(updates: list[int], most: int) -> list[int]:
    """At most so many of the updates, from the first to the last, denser at the beginning, where a model changes most.

    Chosen step by step, as checkpoints come: the one goes whose neighbours are closest, by their ratio.
    """
    left = sorted(updates)
    while len(left) > max(most, 2):
        inner = range(1, len(left) - 1)
        del left[min(inner, key=lambda place: left[place + 1] / max(left[place - 1], 1))]
    return left if most > 1 else left[-1:] if most else []


def to_average(present: list[Checkpoint], keep: int, best_by: Metric | None) -> list[Checkpoint]:
    """The last `keep` checkpoints, or those with the best validation scores by this metric, the best last."""
    if best_by is None:
        return present[-keep:]
    scores = {checkpoint.folder.name: _score(checkpoint) for checkpoint in present}
    newest_first = {name: score for name, score in reversed(scores.items()) if score is not None}
    ranked = best_by.ranking(newest_first)[:keep]
    by_name = {checkpoint.folder.name: checkpoint for checkpoint in present}
    return [by_name[name] for name in reversed(ranked)] or present[-keep:]


def _score(checkpoint: Checkpoint) -> float | None:
    try:
        return checkpoint.progress().score
    except DirectoryError:  # damaged: without a score it is not among the best
        return None


def average(chosen: list[Checkpoint]) -> dict[str, Tensor]:
    """The mean of the weights of several checkpoints (§6.1)."""
    total: dict[str, Tensor] = {}
    for checkpoint in chosen:
        for name, weight in checkpoint.weights().items():
            total[name] = total[name] + weight.double() if name in total else weight.double()
    return {name: (weight / len(chosen)).float() for name, weight in total.items()}
