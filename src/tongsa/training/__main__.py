"""`python -m tongsa.training`: an additional worker of a training that `tongsa train` runs on this machine."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from tongsa.base.errors import TrainingError
from tongsa.runs.directory import Run
from tongsa.training.loop import Callbacks, Trainer
from tongsa.training.workers import keep_freed_memory, process_group, rendezvous, report_started, stay_below


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rendezvous", type=Path, required=True)
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--rank", type=int, required=True)
    given = parser.parse_args()
    stay_below(given.parent)
    run = Run(given.directory)
    recipe, job = run.read_job()
    torch.set_num_threads(job.threads)
    keep_freed_memory()
    report_started(given.rendezvous, given.rank)
    try:
        with process_group(given.rank, given.size, rendezvous(given.rendezvous), torch.device(job.device)) as group:
            Trainer(run, recipe, job, group).run(Callbacks())
    except TrainingError:  # the main process gets the same error and reports it
        sys.exit(1)


if __name__ == "__main__":
    main()
