"""Trainings that are killed over and over: the weights must be those of one that nothing disturbed, bit for bit.

    python -m benchmarks.kills                    200 kills
    python -m benchmarks.kills --kills 20 --seed 3

Two worker processes train a very small model. At random moments (while loading, between two updates, within one, while
a checkpoint is written) the main process, its worker or both get SIGKILL, or SIGTERM and 10 seconds; some are stopped
for a while by SIGSTOP. Then `tongsa resume`. All processes are forked from one that has loaded PyTorch, so that
hundreds of starts take minutes.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors.torch import load_file

from tongsa.base.progress import Plain
from tongsa.demo import grammar
from tongsa.runs.directory import Run
from tongsa.training import __main__ as worker_main
from tongsa.training import workers
from tongsa.training.checkpoint import latest
from tongsa.training.run import resume, train

SETTINGS = {
    "subwords.size": "700",
    "subwords.sampling": "0.1",
    "model.encoder_layers": "1",
    "model.decoder_layers": "1",
    "model.d_model": "16",
    "model.d_ff": "16",
    "model.heads": "2",
    "training.updates": "1200",
    "training.batch_tokens": "200",
    "training.chunk_tokens": "50",
    "training.processes": "2",
    "training.warmup": "5",
    "training.peak": "0.01",
    "training.schedule": "cosine",
    "training.validate_every": "400",
    "training.validation_pairs": "3",
    "training.checkpoint_every": "4",
    "training.average": "2",
    "decoding.max_extra": "5",
}
GRACE = 10.0
"""Seconds between SIGTERM and SIGKILL, as clusters give."""


class ForkedWorker:
    """Stands for subprocess.Popen in the main process of a training: forks instead of loading everything again."""

    def __init__(self, command: list[str], **options: Any) -> None:
        read, write = os.pipe()
        self.returncode: int | None = None
        self.pid = os.fork()
        if not self.pid:
            os.dup2(read, 0)
            os.close(read)
            os.close(write)
            os.setpgid(0, 0)
            _run_and_exit(lambda: worker_main.main(), command[command.index("tongsa.training") :])
        os.close(read)
        self.stdin = os.fdopen(write, "wb")

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout: float = 1e9) -> int:
        end = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("worker", timeout)
            time.sleep(0.005)
        return code

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def _run_and_exit(function: Any, argv: list[str]) -> None:
    """In a forked process."""
    code = 1
    try:
        sys.argv = argv
        function()
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    os._exit(code)


@dataclass
class Attack:
    """One training, attacked until it ends by itself."""

    corpus: Path
    out: Path
    random: random.Random
    counts: Counter[str] = field(default_factory=Counter)
    pid: int = 0

    def start(self) -> None:
        """`tongsa train`, or `tongsa resume` if it has begun, in a process of its own."""
        self.pid = os.fork()
        if self.pid:
            return
        os.setsid()
        with self.out.with_suffix(".err").open("ab") as err:
            os.dup2(err.fileno(), 2)
        workers.subprocess.Popen = ForkedWorker  # type: ignore[misc, assignment]

        def run() -> None:
            if Run(self.out).job_file.is_file():
                ended = resume(self.out, show=Plain())
            else:
                ended = train(
                    self.corpus,
                    out=self.out,
                    source="ko",
                    target="en",
                    settings=SETTINGS,
                    recipe="tiny",
                    threads=2,
                    device="cpu",
                    show=Plain(),
                )
            sys.exit(0 if ended is not None else 130)

        _run_and_exit(run, ["tongsa"])

    def ended(self) -> int | None:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if pid else None

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def updates(self) -> int:
        """The newest checkpoint."""
        root = Run(self.out).checkpoints
        names = [each.name for each in root.iterdir()] if root.is_dir() else []
        return max((int(name) for name in names if name.isdigit()), default=0)

    def moment(self) -> int | None:
        """Wait for a random moment; return the exit code if the training ends before."""
        end = time.monotonic() + self.random.uniform(0, 3)
        more = self.updates() + self.random.randint(2, 30) if self.random.random() < 0.7 else 0
        while (self.updates() < more) if more else (time.monotonic() < end):
            if (code := self.ended()) is not None:
                return code
            time.sleep(0.004)
        return self.ended()

    def strike(self) -> bool:
        """One random attack; return whether the training has ended."""
        children = _children(self.pid)
        kind = self.random.choice(["main"] * 5 + ["worker"] * 3 + ["both", "stop", "stop", "term"])
        if kind == "stop":
            victim = self.random.choice([self.pid, *children])
            self._send(victim, signal.SIGSTOP)
            time.sleep(self.random.uniform(0.05, 0.5))
            self._send(victim, signal.SIGCONT)
            self.counts["SIGSTOP for a while"] += 1
            return False
        if kind == "worker" and children:
            self._send(children[0], signal.SIGKILL)
            self.counts["SIGKILL of the worker"] += 1
            code = self.wait()
            assert code in (0, 1, 2), (code, self.said())
        elif kind == "term":
            for each in (*children, self.pid):
                self._send(each, signal.SIGTERM)
            self.counts["SIGTERM and 10 seconds"] += 1
            end = time.monotonic() + GRACE
            while self.ended() is None:
                if time.monotonic() > end:
                    self._send(self.pid, signal.SIGKILL)
                    self.counts["SIGKILL after SIGTERM"] += 1
                    self.wait()
                    break
                time.sleep(0.01)
        else:
            self._send(self.pid, signal.SIGKILL)
            self.counts["SIGKILL of the main process"] += 1
            if kind == "both" and children:
                self._send(children[0], signal.SIGKILL)
                self.counts["SIGKILL of the worker"] += 1
            self.wait()
        end = time.monotonic() + 60
        while any(Path(f"/proc/{each}").exists() and not _is_zombie(each) for each in children):
            assert time.monotonic() < end, "a worker has outlived its main process"
            time.sleep(0.01)
        return True

    def kills(self) -> int:
        return sum(count for name, count in self.counts.items() if "SIGKILL" in name)

    def said(self) -> str:
        return self.out.with_suffix(".err").read_text(errors="replace")[-2000:]

    @staticmethod
    def _send(process: int, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):  # it has just ended
            os.kill(process, number)


def _children(parent: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == parent and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def _is_zombie(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def identical(one: Path, other: Path) -> bool:
    """Last checkpoint with the moments, and published weights."""
    left, right = latest(Run(one).checkpoints), latest(Run(other).checkpoints)
    assert left, one
    assert right, other
    for name in ("weights.safetensors", "optimizer.safetensors"):
        mine, theirs = load_file(left.folder / name), load_file(right.folder / name)
        if mine.keys() != theirs.keys() or not all(mine[key].equal(theirs[key]) for key in mine):
            return False
    return left.update == right.update and Run(one).weights_file.read_bytes() == Run(other).weights_file.read_bytes()


def attacked(whole: Path, corpus: Path, out: Path, draw: random.Random, kills: int) -> Counter[str]:
    """One training under attack to its end; after so many kills it is left alone."""
    attack = Attack(corpus, out, draw)
    attack.start()
    while True:
        code = attack.wait() if attack.kills() >= kills else attack.moment()
        if code == 0:
            break
        if code is not None or attack.strike():
            assert code in (None, 130), (code, attack.said())
            attack.start()
            print(f"{attack.kills()} kills, after update {attack.updates()}", end="\r", flush=True)
    assert identical(whole, out), f"{out} differs from {whole}"
    attack.counts["trainings"] += 1
    return attack.counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.monotonic()
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        for side, language in enumerate(("ko", "en")):
            pairs = grammar.write_pairs(200, seed=1)
            corpus.with_suffix(f".{language}").write_text("".join(f"{pair[side]}\n" for pair in pairs))
        whole = Attack(corpus, Path(folder) / "whole", random.Random(0))
        whole.start()
        assert whole.wait() == 0, whole.said()
        draw = random.Random(given.seed)
        number = 0
        while (done := sum(count for name, count in total.items() if "SIGKILL" in name)) < given.kills:
            number += 1
            out = Path(folder) / f"attacked-{number}"
            total += attacked(whole.out, corpus, out, draw, given.kills - done)
            shutil.rmtree(out)
            print(dict(total), flush=True)
    print(f"{done} kills in {total['trainings']} trainings, all bit-identical, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
