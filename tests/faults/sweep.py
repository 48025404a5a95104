"""Every call that changes a file fails once, and ends the process once, in whole commands, training among them.

    PYTHONPATH=src:tests python -m faults.sweep                       all scenarios
    PYTHONPATH=src:tests python -m faults.sweep --only train --step 5  one call in five
    PYTHONPATH=src:tests python -m faults.sweep --random-kills 30      bulk translation, killed at random moments

The states after a loss of power (power.py) are tried, too, where a scenario is quick.

A preloaded library (preload.c, needs a C compiler) makes the calls fail, so those of SentencePiece, safetensors and
CTranslate2 are counted too. Each trial runs in a process of its own, forked from one that has imported everything.
"""

from __future__ import annotations

import argparse
import ctypes
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path

from faults.contract import ERRORS, Trial
from faults.power import lose_power
from faults.scenarios import LONG, QUICK
from faults.watching import Call
from small_translators import random_translator, sentences
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
        except (TongsaError, OSError) as raised:  # of both, the command line prints one line
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
    parser.add_argument("--random-kills", type=int, default=0, help="only kill a bulk translation so often")
    given = parser.parse_args()
    if given.random_kills:
        kill_at_random(given.random_kills)
        return
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
            with redirect_stderr(io.StringIO()):  # progress
                lost = lose_power(Trial(scenario, Path(folder) / "power")) if name in QUICK else 0
        total += failed + killed + lost
        counts = f"{failed:5} calls failed {killed:5} kills {lost:5} losses of power"
        print(f"{name:26} {counts}  {time.monotonic() - began:6.0f} s", flush=True)
    print(f"{'sum':26} {total:5} trials")


def kill_at_random(kills: int, seed: int = 1) -> None:
    """Kill a bulk translation at random moments and resume it, until it has been killed often enough."""
    draw = random.Random(seed)
    done = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        translator = random_translator(folder / "ko-en")
        lines = [f"{text} {number}\n" for number in range(60) for text, _ in sentences(100)]
        (folder / "in").write_text("".join(lines))

        def job(output: str) -> subprocess.Popen[bytes]:
            files = ["--input", folder / "in", "--output", folder / output, "--resume"]
            command = [sys.executable, "-m", "tongsa", "translate", translator, *files, "--beam", "1", "--threads", "1"]
            return subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL)

        began = time.monotonic()
        assert job("whole").wait() == 0
        seconds = time.monotonic() - began
        while done < kills:
            for path in folder.glob("*out*"):
                path.unlink()
            while True:
                with job("out") as process:
                    try:
                        process.wait(draw.uniform(0.1, 1) * seconds if done < kills else None)
                    except subprocess.TimeoutExpired:
                        process.kill()
                        done += 1
                        continue
                assert process.returncode == 0
                break
            assert (folder / "out").read_bytes() == (folder / "whole").read_bytes()
        print(f"{done} kills of a bulk translation of {len(lines):,} lines: the same bytes")


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
