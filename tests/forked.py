"""`tongsa` in processes that start at once: forked from one that has imported torch, which takes most of a start."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from tongsa.cli.main import main

CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(["tongsa.training.run", "tongsa.tasks", "tongsa.cli.train"])


def start(
    *arguments: str, stderr: Path, python: Path | None = None, first: Callable[[], None] | None = None
) -> ForkServerProcess:
    """Start a command in a session of its own, with one thread.

    It starts its own processes with `python`, or with this interpreter, and calls `first` before everything else.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = CONTEXT.Process(target=_run, args=(arguments, environment, stderr, python, first))
    process.start()
    return process


def _run(
    arguments: tuple[str, ...],
    environment: Mapping[str, str],
    stderr: Path,
    python: Path | None,
    first: Callable[[], None] | None,
) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    with stderr.open("wb") as file:
        os.dup2(file.fileno(), sys.stderr.fileno())
    sys.executable = str(python or sys.executable)
    sys.argv = ["tongsa", *arguments]
    if first:
        first()
    main()
