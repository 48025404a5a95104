"""Every call that changes a file fails once, and ends the process once, in whole commands, training among them.

    PYTHONPATH=src:tests python -m faults.sweep                       all scenarios
    PYTHONPATH=src:tests python -m faults.sweep --only train --step 5  one call in five

A preloaded library (preload.c, needs a C compiler) makes the calls fail, so those of SentencePiece, safetensors and
CTranslate2 are counted too. Each trial runs in a process of its own, forked from one that has imported everything.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from faults.contract import ERRORS, Trial
from faults.scenarios import LONG, QUICK
from faults.watching import Call
from tongsa.base.errors import TongsaError

SOURCE = Path(__file__).with_name("preload.c")


class ChildTrial(Trial):
    """A trial in child processes, with faults from the preloaded library."""

    def do(self, work: Callable[[Path], None], folder: Path) -> None:
        status, result = self._child(work, folder, 1 << 60, 0)
        if status != 0:
            raise AssertionError(f"exit status {status} without a fault: {result}")
        if result.get("told") is not None:
            raise TongsaError(result["told"])

    def fail(self, at: int, error: int) -> tuple[Call | None, str | None]:
        status, result = self._child(self.scenario.run, self.folder, at, error)
        if status != 0:
            raise AssertionError(f"{os.strerror(error)} at call {at}: exit status {status}: {result}")
        kind, _, path = result["last"].partition(" ")
        return Call(kind, Path(path)) if kind else None, result["told"]

    def end(self, at: int) -> str | None:
        status, result = self._child(self.scenario.run, self.folder, at, 0)
        if status == -signal.SIGKILL:
            return f"killed at call {at}"
        if status != 0 or result["told"] is not None:
            raise AssertionError(f"not killed at call {at}: exit status {status}: {result}")
        return None

    def _child(
        self, work: Callable[[Path], None], folder: Path, at: int, error: int
    ) -> tuple[int, dict[str, str | None]]:
        output = self.folder.with_name("result.json")
        output.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            self._run_and_exit(work, folder, at, error, output)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return status, json.loads(output.read_text()) if output.is_file() else {}

    @staticmethod
    def _run_and_exit(work: Callable[[Path], None], folder: Path, at: int, error: int, output: Path) -> None:
        library = ctypes.CDLL(None)
        library.faults_last.restype = ctypes.c_char_p
        told, status = None, 0
        with output.with_name("output").open("w") as file:
            for number in (1, 2):
                os.dup2(file.fileno(), number)
        library.faults_arm(os.fsencode(folder), ctypes.c_long(at), error)
        try:
            work(folder)
        except TongsaError as raised:
            told = str(raised)
        except BaseException:
            told, status = traceback.format_exc(), 1
        last = library.faults_last().decode()
        library.faults_arm(b"", ctypes.c_long(0), 0)
        output.write_text(json.dumps({"told": told, "last": last}))
        os._exit(status)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="part of the name of a scenario", default="")
    parser.add_argument("--step", type=int, default=1, help="try one call in so many")
    given = parser.parse_args()
    if not hasattr(ctypes.CDLL(None), "faults_arm"):
        _start_again()
    total = 0
    for name, scenario in {**QUICK, **LONG}.items():
        if given.only not in name:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            trial = ChildTrial(scenario, Path(folder))
            failed, killed = trial.fail_every_call(ERRORS, given.step), trial.end_at_every_call(given.step)
        total += failed + killed
        print(f"{name:28} {failed:5} calls failed {killed:5} kills  {time.monotonic() - began:6.0f} s", flush=True)
    print(f"{'sum':28} {total:5} trials")


def _start_again() -> None:
    """Compile the library and start this program again with it."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "preload.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
        environment = {**os.environ, "LD_PRELOAD": str(library), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "faults.sweep", *sys.argv[1:]]
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
