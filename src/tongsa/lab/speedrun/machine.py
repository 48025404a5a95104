"""The machine that a race was run on, and a probe of its speed, since minutes on unnamed cores are no unit."""

from __future__ import annotations

import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy

import tongsa
from tongsa.base.devices import usable_cores

PIECES, D_MODEL, D_FF, HEADS, LAYERS = 8000, 128, 512, 4, 4
SENTENCES, TOKENS = 64, 16
WARM_UP, UPDATES = 2, 7

PROBE = (
    f"one update of torch.nn.Transformer ({LAYERS}+{LAYERS} layers, d_model {D_MODEL}, {PIECES:,} pieces, no dropout) "
    f"on {SENTENCES} pairs of {TOKENS} tokens, on one core"
)
"""The unit in which machines are compared. It is made of PyTorch's own layers, so that it measures the machine and not
the version of Tongsa."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The hardware of a race, and the versions of what ran on it."""

    processor: str
    cores: int
    """Cores that this process may use."""
    used: int
    """Cores that the training used: processes times threads."""
    instructions: str
    """The instruction set that PyTorch uses: AVX2, AVX512."""
    device: str
    """cpu, or the name of the GPU."""
    torch: str
    python: str
    tongsa: str
    commit: str
    """Of a checkout of Tongsa; empty if it is installed otherwise."""
    probe: float
    """Seconds of PROBE."""

    @property
    def in_words(self) -> str:
        if self.device != "cpu":
            return self.device
        return f"{self.processor} ({self.instructions}), {self.used} of {self.cores} cores"


def describe_machine(device: str, used: int) -> Machine:
    """Look at this machine, and probe it."""
    return Machine(
        processor=processor_name(),
        cores=usable_cores(),
        used=used,
        instructions=torch.backends.cpu.get_cpu_capability(),
        device="cpu" if device == "cpu" else torch.cuda.get_device_name(torch.device(device)),
        torch=torch.__version__,
        python=platform.python_version(),
        tongsa=tongsa.__version__,
        commit=commit(),
        probe=probe_seconds(),
    )


def processor_name(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    try:
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").split("\n"):
            key, _, value = line.partition(":")
            if key.strip() == "model name" and value.strip():
                return " ".join(value.split())
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine() or "unknown"


def commit() -> str:
    """The commit of the checkout that this file is run from, with -dirty if it was changed; empty if there is none."""
    try:
        # An installation may lie in a checkout of something else, which does not know this file.
        _git("ls-files", "--error-unmatch", Path(__file__).name)
        return _git("describe", "--always", "--dirty", "--abbrev=10", "--exclude=*")
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    where = Path(__file__).parent
    return subprocess.run(command, cwd=where, capture_output=True, text=True, timeout=20, check=True).stdout.strip()


def probe_seconds(clock: Callable[[], float] = time.perf_counter) -> float:
    """The median time of PROBE."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            update = _probe_update()
        times = []
        for _ in range(WARM_UP + UPDATES):
            began = clock()
            update()
            times.append(clock() - began)
    finally:
        torch.set_num_threads(threads)
    return statistics.median(times[WARM_UP:])


def _probe_update() -> Callable[[], None]:
    embedding = nn.Embedding(PIECES, D_MODEL)
    model = nn.Transformer(D_MODEL, HEADS, LAYERS, LAYERS, D_FF, dropout=0.0, batch_first=True)
    weights = [*embedding.parameters(), *model.parameters()]
    optimizer = torch.optim.Adam(weights, lr=1e-4)
    source, target, labels = torch.randint(PIECES, (3, SENTENCES, TOKENS))
    mask = nn.Transformer.generate_square_subsequent_mask(TOKENS)

    def update() -> None:
        optimizer.zero_grad()
        features = model(embedding(source), embedding(target), tgt_mask=mask, tgt_is_causal=True)
        cross_entropy((features @ embedding.weight.T).flatten(0, 1), labels.flatten()).backward()
        optimizer.step()

    return update
