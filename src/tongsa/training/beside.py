"""A training in a process of its own, beside that of the main process, on other cores.

Two trainings of different models on half of the cores each are faster than one after the other on all of them: there
is nothing to exchange.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tongsa.base.errors import TongsaError, TrainingError
from tongsa.base.progress import Silent
from tongsa.runs.directory import Run
from tongsa.training.fitting import fit
from tongsa.training.loop import End
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
            raise TrainingError(
                f"the training of {self._run.path} has ended {how}",
                why,
                "What it has saved is kept: `tongsa resume` continues.",
            )
        return code == 0

    def stop(self) -> None:
        """Let it save everything and end."""
        with suppress(OSError):
            self._process.terminate()
        self._process.wait()


@contextmanager
def training_beside(run: Run) -> Iterator[TrainingBeside]:
    """Fit a prepared run directory beside what the block does; a block that fails stops the training."""
    # Its own process group: Ctrl-C in a terminal goes only to the main process, which then stops this one. Its input
    # stays open as long as the main process lives.
    process = subprocess.Popen(
        [sys.executable, "-m", "tongsa.training.beside", str(run.path)], process_group=0, stdin=subprocess.PIPE
    )
    assert process.stdin, "it is a pipe"
    training = TrainingBeside(process, run)
    try:
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
    end_with_input()
    try:
        end = fit(run, Silent())
    except TongsaError as error:
        print(f"{run.path}: error: {error}", file=sys.stderr, flush=True)
        return 2
    return INTERRUPTED if end == End.INTERRUPTED else 0


if __name__ == "__main__":
    sys.exit(main())
