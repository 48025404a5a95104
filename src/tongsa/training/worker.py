"""`python -m tongsa.training.worker`: a further worker of a training that `tongsa train` leads on this machine."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from tongsa.base.errors import TrainingError
from tongsa.runs.directory import Run
from tongsa.training.distributed import arrive, follow, join, rendezvous
from tongsa.training.loop import Trainer, Watcher
from tongsa.training.memory import keep_freed_memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--meeting", type=Path, required=True)
    parser.add_argument("--leader", type=int, required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--rank", type=int, required=True)
    given = parser.parse_args()
    follow(given.leader)
    recipe, job = Run(given.directory).read_job()
    torch.set_num_threads(job.threads)
    keep_freed_memory()
    arrive(given.meeting, given.rank)
    try:
        with join(given.rank, given.size, rendezvous(given.meeting), torch.device(job.device)) as team:
            Trainer(given.directory, recipe, job, team).run(Watcher())
    except TrainingError:  # the leader has met it too, and tells of it
        sys.exit(1)


if __name__ == "__main__":
    main()
