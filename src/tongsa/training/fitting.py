"""Fit a prepared run directory: the decisions for this machine, and its worker processes."""

from __future__ import annotations

import dataclasses
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Literal

import torch

from tongsa.base.devices import choose_device, started_by_torchrun, usable_cores
from tongsa.base.progress import Plain, Show, Silent
from tongsa.config import Recipe, TrainingSection
from tongsa.models.products import bfloat16_is_faster
from tongsa.runs.directory import Run
from tongsa.runs.job import Job, TrainOptions
from tongsa.training.checkpoint import latest, put_damaged_aside
from tongsa.training.logger import TrainingLogger
from tongsa.training.loop import Callbacks, End, Trainer
from tongsa.training.workers import (
    ProcessGroup,
    local_threads,
    process_group,
    start_workers,
)

NARROW = 128
"""d_model up to which a model trains faster on larger chunks (docs/benchmarks.md)."""


def write_job(run: Run, recipe: Recipe, options: TrainOptions) -> None:
    """Decide what recipe and options leave open, and record it, so that `resume` makes the same choices."""
    device = choose_device(options.device)
    threads = options.threads or usable_cores()
    decided = resolved(recipe, threads, device)
    each = max(1, threads // decided.training.processes)
    run.write_job(decided, Job(options=options, device=str(device), threads=each))


def fit(run: Run, show: Show, device: str = "auto") -> End:
    """Train a prepared run directory with all its worker processes, starting from its last checkpoint if it has one.

    The device is that of the job; under torchrun it must be given, since workers connect before the job is written.
    """
    if is_main():
        put_damaged_aside(run.checkpoints, show.say)
        newest = latest(run.checkpoints)
        if newest:
            show.say(f"resuming after update {newest.update:,}")
    with _workers(run, device) as group:
        recipe, job = run.read_job()
        torch.set_num_threads(_threads(job))
        trainer = Trainer(run, recipe, job, group)
        if not group.is_main:
            with _stop_on_signal(trainer, Silent()):
                return trainer.run(Callbacks(on_split=Plain().say))
        _mention_other_gpus(trainer.device, show)
        with TrainingLogger(run, trainer, show) as callbacks, _stop_on_signal(trainer, show):
            end = trainer.run(callbacks)
    if end == End.INTERRUPTED:
        show.say(f"stopped after update {trainer.progress.update:,}; everything is saved")
    return end


def _threads(job: Job) -> int:
    """Threads of this process; under torchrun, what the processes on its own machine leave it."""
    return local_threads(job.options.threads or usable_cores()) if started_by_torchrun() else job.threads


def _mention_other_gpus(device: torch.device, show: Show) -> None:
    count = torch.cuda.device_count() if device.type == "cuda" else 0
    if count > 1 and not started_by_torchrun():
        show.say(f"training on one of {count} GPUs; on all of them:  torchrun --nproc-per-node {count} -m tongsa ...")


def is_main() -> bool:
    """Whether this is the main process: under torchrun, the one of rank 0."""
    return int(os.environ["RANK"]) == 0 if started_by_torchrun() else True


def resolved(recipe: Recipe, threads: int, device: torch.device) -> Recipe:
    """The recipe with processes, size of chunks and precision decided for this machine."""
    section = recipe.training
    on_cpu = device.type == "cpu"
    processes = section.processes or (threads if on_cpu and not started_by_torchrun() else 1)
    chunk = chunk_tokens(recipe, processes, on_cpu=on_cpu)
    decided = dataclasses.replace(
        section, processes=processes, chunk_tokens=chunk, precision=_precision(section, device)
    )
    return dataclasses.replace(recipe, training=decided)


def _precision(section: TrainingSection, device: torch.device) -> Literal["float32", "bfloat16"]:
    if section.precision != "auto":
        return section.precision
    return "bfloat16" if device.type == "cpu" and bfloat16_is_faster() else "float32"


def chunk_tokens(recipe: Recipe, processes: int, *, on_cpu: bool) -> int:
    """The recipe's chunk size, or about the fastest one, of which an update has a whole number; never more than a
    process's share of an update."""
    fastest = (2048 if recipe.model.d_model <= NARROW else 1024) if on_cpu else 8192
    fastest = min(fastest, recipe.model.largest_chunk * (1 if on_cpu else 8))
    section = recipe.training
    share = max(1, section.batch_tokens // processes)
    return min(section.chunk_tokens or share // -(-share // fastest), share)


@contextmanager
def _workers(run: Run, device: str) -> Iterator[ProcessGroup]:
    """Join the workers that torchrun has started, or start as many as the recipe specifies."""
    if started_by_torchrun():
        place = choose_device(device)
        if place.type == "cuda":
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        with process_group(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), "env://", place) as group:
            yield group
        return
    recipe, job = run.read_job()
    with start_workers(recipe.training.processes, run, torch.device(job.device)) as group:
        yield group


@contextmanager
def _stop_on_signal(trainer: Trainer, show: Show) -> Iterator[None]:
    """The first Ctrl-C stops the training after the current update, the second one at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        if trainer.stopping:
            raise KeyboardInterrupt
        trainer.stopping = True
        show.say("stopping after this update (Ctrl-C again to stop at once)")

    try:
        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread: leave signals to the caller
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
