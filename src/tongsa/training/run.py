"""prepare -> fit -> publish, and `tongsa.train` and `tongsa.resume`, which combine them."""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any, Literal

import torch

from tongsa.base.devices import choose_device, usable_cores
from tongsa.base.errors import DirectoryError, RecipeError
from tongsa.base.locks import locked
from tongsa.base.progress import Plain, Show, Silent
from tongsa.base.regular import refuse_links
from tongsa.config import Recipe, TrainingSection
from tongsa.models.products import bfloat16_is_faster
from tongsa.runs.card import TRANSLATION
from tongsa.runs.directory import Run
from tongsa.runs.job import Job, TrainOptions
from tongsa.runs.loggers import check_loggers
from tongsa.training.checkpoint import latest, put_damaged_aside
from tongsa.training.continuing import (
    change_job,
    changed_texts,
    prepare_again,
    refuse_changes,
    repair_prepared,
    write_began,
    write_data,
)
from tongsa.training.logger import TrainingLogger
from tongsa.training.loop import Callbacks, End, Trainer
from tongsa.training.publish import publish
from tongsa.training.workers import (
    ProcessGroup,
    local_threads,
    process_group,
    start_workers,
    started_by_torchrun,
)

Names = str | Path | Sequence[str | Path]

NARROW = 128
"""d_model up to which a model trains faster on larger chunks (docs/benchmarks.md)."""


def train(
    corpora: Names,
    *,
    out: str | Path,
    source: str = "",
    target: str = "",
    task: str = TRANSLATION,
    valid: Names = (),
    recipe: str = "auto",
    settings: Mapping[str, str] | None = None,
    minutes: float | None = None,
    seed: int = 1,
    threads: int | None = None,
    device: str = "auto",
    init: str | Path | None = None,
    mix: Names = (),
    mix_ratio: float = 1.0,
    silver: Names = (),
    silver_ratio: float = 1.0,
    loggers: Names = (),
    resume: bool = False,
    show: Show | None = None,
) -> Any:
    """Train a model into the directory `out`, and load it: for translation, a Translator.

    With `resume`, continue the training with the same options that is in `out` already, if there is one. The other
    parameters are those of `TrainOptions`, which documents them. Return None if the training was interrupted, or if
    this process is one of several and not the main one.
    """
    options = TrainOptions(
        corpora=names(corpora),
        task=task,
        source=source,
        target=target,
        valid=names(valid),
        recipe=recipe,
        settings=dict(settings or {}),
        minutes=minutes,
        seed=seed,
        threads=threads,
        device=device,
        init=str(init) if init else None,
        mix=names(mix),
        mix_ratio=mix_ratio,
        silver=names(silver),
        silver_ratio=silver_ratio,
        loggers=names(loggers),
    )
    return train_with(options, Run(Path(out)), show or Silent(), resume=resume)


def train_with(options: TrainOptions, run: Run, show: Show, *, resume: bool = False) -> Any:
    """Prepare, fit and publish; with `resume`, continue the training that is already there, if any."""
    options.check()
    with _locked(run, show):
        if is_main():
            if resume and run.job_file.is_file():
                _continue(run, options, show)
            else:
                prepare(run, options, show)
        return _fit_and_publish(run, show, options.device)


def _continue(run: Run, options: TrainOptions, show: Show) -> None:
    """Check that this is the same training, and repair what is damaged."""
    refuse_changes(run, options)
    try:
        run.read_job()
    except (DirectoryError, RecipeError) as damage:
        show.say(f"{damage.what}; writing it again")
        write_job(run, prepare_again(run, options, show), options)
        return
    repair_prepared(run, options, show)
    change_job(run, {}, options.minutes, None if options.device == "auto" else options.device, options.loggers)


def resume(
    out: str | Path,
    *,
    settings: Mapping[str, str] | None = None,
    minutes: float | None = None,
    device: str | None = None,
    loggers: Names = (),
    show: Show | None = None,
) -> Any:
    """Continue the training in the directory `out`, optionally with other settings, loggers or another budget."""
    run, show = Run(Path(out)), show or Silent()
    check_loggers(names(loggers))
    if is_main():
        run.read_job()  # before a lock is written into a directory that may be none of ours
    with _locked(run, show):
        if is_main():
            _, job = run.read_job()
            for line in changed_texts(run, job.options):
                show.say(f"{line}; the training goes on with the text that it began with")
            repair_prepared(run, job.options, show)
            change_job(run, settings or {}, minutes, device, names(loggers))
            if not latest(run.checkpoints):
                show.say("resuming from the beginning")
        return _fit_and_publish(run, show, device or "auto")


def fit_and_publish(run: Run, show: Show, device: str = "auto") -> Any:
    """Train a prepared run directory to the end, and publish it; return None if it was interrupted."""
    with _locked(run, show):
        if is_main():
            run.check_prepared()
        return _fit_and_publish(run, show, device)


@contextmanager
def _locked(run: Run, show: Show) -> Iterator[None]:
    """Only one training at a time works in a directory; of several processes under torchrun, the main one locks it."""
    if is_main():
        refuse_links(run.path)
    with locked(run.lock_file, f"a training in {run.path}", show.say) if is_main() else nullcontext():
        yield


def _fit_and_publish(run: Run, show: Show, device: str) -> Any:
    end = fit(run, show, device)
    if not is_main():
        return None
    if end == End.INTERRUPTED:
        show.say(f"to continue:  tongsa resume {run.path}")
        return None
    _, job = run.read_job()
    torch.set_num_threads(job.options.threads or usable_cores())
    return publish(run, job.device, show)


def prepare(run: Run, options: TrainOptions, show: Show) -> None:
    """Read the corpora and write a run directory that `fit` can train."""
    options.check()
    run.refuse_to_overwrite()
    write_job(run, write_data(run, options, show), options)


def write_job(run: Run, recipe: Recipe, options: TrainOptions) -> None:
    """Decide what recipe and options leave open, and record it, so that `resume` makes the same choices."""
    device = choose_device(options.device)
    threads = options.threads or usable_cores()
    decided = resolved(recipe, threads, device)
    each = max(1, threads // decided.training.processes)
    run.write_job(decided, Job(options=options, device=str(device), threads=each))


def share_prepared(prepared: Run, run: Run, recipe: Recipe, options: TrainOptions) -> None:
    """Set up a training with the data that another run directory has prepared: `fit` trains it with this recipe."""
    shutil.rmtree(run.path, ignore_errors=True)  # a kill may have left half of the links
    # Links take no space; ids are never written in place, so they cannot be changed through a link.
    ignored = shutil.ignore_patterns(prepared.log_file.name, prepared.lock_file.name)
    shutil.copytree(prepared.path, run.path, copy_function=_link, ignore=ignored)
    write_job(run, recipe, options)


def take_prepared(prepared: Run, run: Run, recipe: Recipe, options: TrainOptions) -> None:
    """As `share_prepared`, but for a directory of the user, who continues the training with these options."""
    for path in prepared.path.iterdir():
        there = run.path / path.name
        if path == prepared.log_file:  # the training appends to it
            shutil.copyfile(path, there)
        elif path not in (prepared.lock_file, prepared.data):
            there.unlink(missing_ok=True)
            _link(str(path), str(there))
    shutil.rmtree(run.data, ignore_errors=True)
    shutil.copytree(prepared.data, run.data, copy_function=_link)
    write_began(run, options)
    write_job(run, recipe, options)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copyfile(source, target)


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


def names(given: Names) -> tuple[str, ...]:
    return (str(given),) if isinstance(given, str | Path) else tuple(str(name) for name in given)


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
