"""One contestant of training.py, in a process of its own: it trains whenever it is told to, and waits otherwise.

For each line `updates seconds` on its input it makes at least so many updates and goes on until the seconds are over,
and answers with `{"tokens": ..., "seconds": ..., "updates": ...}`.

    python benchmarks/contestant.py tongsa DIRECTORY
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import torch

import peers
from tongsa.runs.directory import Run
from tongsa.training.loop import Callbacks, Step, Trainer
from tongsa.training.workers import start_workers


class Over(Exception):
    """Nobody asks for more."""


class Turns:
    """Counts the updates of a turn; waits for the next one at its end."""

    def __init__(self) -> None:
        self._wait()

    def _wait(self) -> None:
        line = sys.stdin.readline()
        if not line:
            raise Over
        updates, seconds = line.split()
        self._updates, self._seconds = int(updates), float(seconds)
        self._done = self._tokens = 0
        self._began = time.perf_counter()

    def count(self, tokens: int) -> None:
        self._done += 1
        self._tokens += tokens
        passed = time.perf_counter() - self._began
        if self._done >= self._updates and passed >= self._seconds:
            print(json.dumps({"tokens": self._tokens, "seconds": passed, "updates": self._done}), flush=True)
            self._wait()


def tongsa(directory: Path) -> None:
    """As `tongsa train` does once the ids are prepared: its processes, its batches, its loop."""
    run = Run(directory)
    recipe, job = run.read_job()
    with start_workers(recipe.training.processes, run, torch.device(job.device)) as group:
        torch.set_num_threads(job.threads)
        trainer = Trainer(run, recipe, job, group)
        turns = Turns()

        def updated(step: Step, progress: object) -> None:
            turns.count(step.tokens)

        trainer.run(Callbacks(on_update=updated))


def peer(name: str, directory: Path) -> None:
    recipe, job = Run(directory).read_job()
    training = peers.updates(name, directory, recipe, job.threads * recipe.training.processes)
    turns = Turns()
    for tokens in training:
        turns.count(tokens)


def main() -> None:
    name, directory = sys.argv[1], Path(sys.argv[2])
    try:
        if name == "tongsa":
            tongsa(directory)
        else:
            peer(name, directory)
    except Over:
        pass


if __name__ == "__main__":
    main()
