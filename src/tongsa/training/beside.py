"""A training in a process of its own, beside that of the main process, on other cores.

Two trainings of different models on half of the cores each are faster than one after the other on all of them: there
is nothing to exchange.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tongsa.base.errors import TongsaError, TrainingError
from tongsa.base.progress import Silent
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.training.run import train_with
from tongsa.training.workers import end_with_input, explain_end

INTERRUPTED = 130
"""Exit code of a training that a signal has stopped; it has saved everything."""


class TrainingBeside:
    """A training that goes on in another process."""

    def __init__(self, process: subprocess.Popen[bytes], run: Run) -> None:
        self._process, self._run = process, run

    def wait(self) -> bool:
        """Wait for the end; return whether the model is trained, or the training was interrupted."""
        code = self._process.wait()
        if code not in (0, INTERRUPTED):
            how, why = explain_end(code)
            raise TrainingError(f"the training of {self._run.path} has ended {how}", why, "The same command continues.")
        return code == 0

    def stop(self) -> None:
        """Let it save everything and end."""
        with suppress(OSError):
            self._process.terminate()
        self._process.wait()


@contextmanager
def training_beside(options: TrainOptions, run: Run) -> Iterator[TrainingBeside]:
    """Train, or continue to, beside what the block does; a block that fails stops the training."""
    # Its own process group: Ctrl-C in a terminal goes only to the main process, which then stops this one. Its input
    # stays open as long as the main process lives.
    process = subprocess.Popen(
        [sys.executable, "-m", "tongsa.training.beside", str(run.path)], process_group=0, stdin=subprocess.PIPE
    )
    assert process.stdin, "it is a pipe"
    training = TrainingBeside(process, run)
    try:
        with suppress(OSError):  # if it has died already, its exit code tells
            process.stdin.write(f"{json.dumps(dataclasses.asdict(options))}\n".encode())
            process.stdin.flush()
        yield training
    except BaseException:
        training.stop()
        raise
    finally:
        with suppress(OSError):
            process.stdin.close()
        process.wait()


def main() -> int:
    run = Run(Path(sys.argv[1]))
    options = TrainOptions.from_values(json.loads(_first_line()))
    end_with_input()
    try:
        trained = train_with(options, run, Silent(), resume=True)
    except TongsaError as error:
        print(f"{run.path}: error: {error}", file=sys.stderr, flush=True)
        return 2
    return INTERRUPTED if trained is None else 0


def _first_line() -> bytes:
    """The first line of the input, read without a buffer: the end of the input is watched for afterwards."""
    line = b""
    while (byte := os.read(0, 1)) not in (b"\n", b""):
        line += byte
    return line


if __name__ == "__main__":
    sys.exit(main())
