"""`python -m tongsa.training.worker`: a further worker of a training that `tongsa train` leads on this machine."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from tongsa.training.distributed import follow_the_leader, join
from tongsa.training.job import open_job
from tongsa.training.loop import Trainer, Watcher


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rendezvous", required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--rank", type=int, required=True)
    given = parser.parse_args()
    follow_the_leader()
    recipe, job = open_job(given.directory)
    torch.set_num_threads(job.threads)
    with join(given.rank, given.size, given.rendezvous, torch.device(job.device)) as team:
        Trainer(given.directory, recipe, job, team).run(Watcher())


if __name__ == "__main__":
    main()
