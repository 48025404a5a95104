"""prepare -> fit -> publish, and `tongsa.train` and `tongsa.resume`, which combine them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch

from tongsa.base.devices import usable_cores
from tongsa.base.errors import DirectoryError, RecipeError
from tongsa.base.locks import locked
from tongsa.base.progress import Show, Silent
from tongsa.base.regular import refuse_links
from tongsa.config import Recipe
from tongsa.runs.card import TRANSLATION
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.runs.loggers import check_loggers
from tongsa.training.checkpoint import latest
from tongsa.training.continuing import (
    change_job,
    changed_texts,
    prepare_again,
    refuse_changes,
    repair_prepared,
    write_began,
    write_data,
)
from tongsa.training.diversify import diversify, forget
from tongsa.training.fitting import fit, is_main, write_job
from tongsa.training.loop import End
from tongsa.training.publish import publish

Names = str | Path | Sequence[str | Path]


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
    end = End.INTERRUPTED if is_main() and not diversify(run, show) else fit(run, show, device)
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
    forget(run)
    write_job(run, write_data(run, options, show), options)


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


def names(given: Names) -> tuple[str, ...]:
    return (str(given),) if isinstance(given, str | Path) else tuple(str(name) for name in given)
