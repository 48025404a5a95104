"""A small corpus of the built-in grammar, small models, and trainings in processes of their own."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

import forked
import tongsa
from tongsa.demo import grammar
from tongsa.runs.log import read_log

PAIRS = 300

SETTINGS = {
    "training.precision": "float32",  # the tests compare exactly, and rounding would hide differences
    "subwords.size": "900",
    "subwords.sampling": "0.1",
    "model.encoder_layers": "1",
    "model.decoder_layers": "1",
    "model.d_model": "16",
    "model.d_ff": "16",
    "model.heads": "2",
    "model.dropout": "0.1",
    "training.updates": "24",
    "training.batch_tokens": "400",
    "training.chunk_tokens": "100",
    "training.processes": "1",
    "training.warmup": "5",
    "training.peak": "0.01",
    "training.schedule": "cosine",
    "training.validate_every": "8",
    "training.validation_pairs": "5",
    "training.average": "2",
    "decoding.max_extra": "5",
}
"""A training of a few seconds with everything random in it: dropout, subword sampling, the order of the batches."""


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prefix of two aligned files."""
    prefix = tmp_path_factory.mktemp("corpus") / "train"
    pairs = list(grammar.write_pairs(PAIRS, seed=1))
    for side, language in enumerate(("ko", "en")):
        prefix.with_suffix(f".{language}").write_text("".join(pair[side] + "\n" for pair in pairs), encoding="utf-8")
    return prefix


@pytest.fixture(scope="session")
def train_here(corpus: Path) -> Callable[..., tongsa.Translator | None]:
    """Train in this process."""

    def train(out: Path, changes: Mapping[str, str] | None = None, **options: Any) -> tongsa.Translator | None:
        if options.pop("resume", False):
            return tongsa.resume(out, settings=changes, **options)
        usual = {"source": "ko", "target": "en", "recipe": "tiny", "threads": 1, "device": "cpu"}
        settings = {**SETTINGS, **(changes or {})}
        return tongsa.train(
            options.pop("corpus", corpus),
            out=out,
            settings=settings,
            resume=options.pop("or_resume", False),
            **{**usual, **options},
        )

    return train


@dataclass
class Training:
    """`tongsa train` in a process of its own."""

    out: Path
    python: Path | None = None
    """Starts its workers instead of Python itself."""
    process: ForkServerProcess = field(init=False)

    @property
    def said(self) -> str:
        return self.out.with_suffix(".err").read_text(encoding="utf-8")

    def begin(self, corpus: Path, changes: Mapping[str, str]) -> Training:
        settings = [f"--set={key}={value}" for key, value in {**SETTINGS, **changes}.items()]
        options = ["--from=ko", "--to=en", "--recipe=tiny", f"--out={self.out}", *settings]
        return self._start("train", str(corpus), *options)

    def resume(self) -> Training:
        return self._start("resume", str(self.out))

    def _start(self, *arguments: str) -> Training:
        options = ("--threads=1", "--device=cpu")
        self.process = forked.start(*arguments, *options, stderr=self.out.with_suffix(".err"), python=self.python)
        return self

    def updates(self) -> int:
        """As many as the log tells of so far."""
        log = self.out / "log.jsonl"
        return max((e["update"] for e in read_log(log) if e["event"] == "update"), default=0) if log.is_file() else 0

    def wait_for(self, what: Callable[[], object], every: float = 0.01, seconds: float = 600) -> None:
        """Look now and then until it is so, while the process runs."""
        end = time.monotonic() + seconds
        while not what():
            assert self.process.exitcode is None, f"it ended with {self.process.exitcode}:\n{self.said}"
            assert time.monotonic() < end, f"nothing after {seconds} seconds:\n{self.said}"
            time.sleep(every)

    def kill(self) -> None:
        """As the system does when memory is short: this one process, with no warning."""
        self.process.kill()
        self.process.join()

    def interrupt(self) -> None:
        """Ctrl-C on a terminal: the whole process group is told."""
        os.killpg(self.pid, signal.SIGINT)

    def finish(self, seconds: float = 600) -> int:
        self.process.join(seconds)
        assert self.process.exitcode is not None, f"it has not ended after {seconds} seconds:\n{self.said}"
        return self.process.exitcode

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    def children(self, parent: int | None = None) -> list[int]:
        """Processes that it (or another process) has started."""
        parent = parent or self.pid
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
            except OSError:  # it has just ended
                continue
            if int(fields[1]) == parent and fields[0] != "Z":
                found.append(int(stat.parent.name))
        return found


@pytest.fixture
def training(tmp_path: Path) -> Iterator[Callable[[str], Training]]:
    """Makes trainings, and sees to it that none is left running."""
    made: list[Training] = []

    def make(name: str) -> Training:
        made.append(Training(tmp_path / name))
        return made[-1]

    yield make
    for each in made:
        if hasattr(each, "process") and each.process.is_alive():
            each.kill()


@pytest.fixture(scope="session")
def uninterrupted(
    train_here: Callable[..., tongsa.Translator | None], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[int], Path]:
    """The directory of a training with so many processes that nothing disturbed."""
    known: dict[int, Path] = {}

    def whole(processes: int) -> Path:
        if processes not in known:
            out = tmp_path_factory.mktemp("whole") / f"of-{processes}"
            changes = {"training.processes": str(processes), "training.checkpoint_every": "1"}
            assert train_here(out, changes) is not None
            known[processes] = out
        return known[processes]

    return whole
