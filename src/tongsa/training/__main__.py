"""`python -m tongsa.training`: an additional worker of a training that `tongsa train` runs on this machine."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import torch

from tongsa.base.errors import TongsaError, TrainingError
from tongsa.runs.directory import Run
from tongsa.training.loop import Callbacks, Trainer
from tongsa.training.workers import (
    WorkerError,
    end_with_main_process,
    process_group,
    rendezvous,
    report_started,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rendezvous", type=Path, required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--rank", type=int, required=True)
    given = parser.parse_args()
    end_with_main_process()

    def tell(text: str) -> None:
        print(f"worker {given.rank}: {text}", file=sys.stderr, flush=True)

    try:
        _train(Run(given.directory), given, tell)
    except TongsaError as error:
        if isinstance(error, WorkerError) or not isinstance(error, TrainingError):
            tell(f"error: {error}")  # any other TrainingError occurs in the main process too, which reports it
        sys.exit(1)


def _train(run: Run, given: argparse.Namespace, tell: Callable[[str], None]) -> None:
    recipe, job = run.read_job()
    torch.set_num_threads(job.threads)
    report_started(given.rendezvous, given.rank)
    with process_group(given.rank, given.size, rendezvous(given.rendezvous), torch.device(job.device)) as group:
        Trainer(run, recipe, job, group).run(Callbacks(on_split=tell))


if __name__ == "__main__":
    main()
