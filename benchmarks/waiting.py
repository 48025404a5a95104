"""How should waiting threads of OpenMP wait? Ratios to libgomp's own way, idle and beside busy processes.

    python benchmarks/waiting.py --threads 2 --busy 0,4

Trains a small Transformer in one process with several threads, and decodes with it, by turns with each setting. The
machine should have nothing else to do: the load before each round is printed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

SETTINGS: dict[str, dict[str, str]] = {
    "default": {},
    "spin 0": {"GOMP_SPINCOUNT": "0"},
    "spin 1000": {"GOMP_SPINCOUNT": "1000"},
    "spin 10000": {"GOMP_SPINCOUNT": "10000"},
}
WORK = ("train", "decode")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--busy", default="0,4", help="numbers of busy processes beside it")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--measure", choices=WORK, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    if options.measure:
        print(speed(options.measure, options.threads, options.seconds))
        return
    for busy in map(int, options.busy.split(",")):
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
        try:
            compare(options, busy)
        finally:
            for other in others:
                other.kill()


def compare(options: argparse.Namespace, busy: int) -> None:
    found: dict[tuple[str, str], list[float]] = {(work, name): [] for work in WORK for name in SETTINGS}
    for _ in range(options.rounds):
        print(f"load {os.getloadavg()[0]:.1f}", flush=True)
        for work, name in found:
            clean = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_"))}
            command = [sys.executable, __file__, "--measure", work]
            command += ["--threads", str(options.threads), "--seconds", str(options.seconds)]
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=clean | SETTINGS[name])
            found[work, name].append(float(done.stdout))
    for (work, name), speeds in found.items():
        middle, own = statistics.median(speeds), statistics.median(found[work, "default"])
        print(f"beside {busy} busy  {work:6}  {name:10} {middle:9,.0f} tokens/s  {middle / own:6.2f}", flush=True)


def speed(work: str, threads: int, seconds: float) -> float:
    """Tokens per second of training or decoding."""
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    step = steps()[work]
    step()
    tokens, began = 0, time.monotonic()
    while time.monotonic() - began < seconds:
        tokens += step()
    return tokens / (time.monotonic() - began)


def steps() -> dict[str, Callable[[], int]]:
    import torch

    from tongsa.config import TransformerSection
    from tongsa.decoding import Search, Special, decode
    from tongsa.models import build

    pieces, rows, length = 2000, 64, 16
    section = TransformerSection(d_model=128, d_ff=512, heads=4, encoder_layers=3, decoder_layers=3)
    model = build(section, pieces + 1, None)
    optimizer = torch.optim.Adam(model.parameters())
    source, target = torch.randint(2, pieces, (2, rows, length))
    mask = torch.ones(rows, length, dtype=torch.bool)

    def train() -> int:
        loss = torch.nn.functional.cross_entropy(model(source, mask, target).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return target.numel()

    def translate() -> int:
        found = decode(model.eval(), source, mask, Search(beam=2, max_extra=0), Special(start=pieces, end=0))
        return sum(len(group[0].ids) + 1 for group in found)

    return {"train": train, "decode": translate}


if __name__ == "__main__":
    main()
