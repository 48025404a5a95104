"""What the benchmarks measure with: memory of a tree of processes, the peak of matrix products, operations, growth."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from tongsa.config import TransformerSection

MEGABYTE = 1024 * 1024


def family(pid: int) -> list[int]:
    """The process and all that it has started, and those that they have."""
    found = [pid]
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = tasks.read_text().split()
        except OSError:  # the thread has just ended
            continue
        for child in children:
            found += family(int(child))
    return found


def proportional_set_size(pid: int) -> int:
    """Bytes of memory of a process; a page that several share counts for its share (0: it has ended, or no Linux)."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


class PeakMemory:
    """The most memory that a process and its children have had at once while the block lasted."""

    def __init__(self, pid: int, every: float = 0.05) -> None:
        self.bytes = 0
        self._pid, self._every = pid, every
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(self._every):
            self.bytes = max(self.bytes, sum(proportional_set_size(pid) for pid in family(self._pid)))


def gemm_peak(threads: int, size: int = 2048, seconds: float = 0.5) -> float:
    """The most FLOPS that a product of two square matrices reaches."""
    torch.set_num_threads(threads)
    a, b = torch.randn(size, size), torch.randn(size, size)
    out = a @ b
    best = math.inf
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        torch.mm(a, b, out=out)
        best = min(best, time.perf_counter() - began)
    return 2 * size**3 / best


FORMULA = "6 x (source tokens x N x (6 d^2 + 2 d d_ff) + target tokens x (N x (6 d^2 + 2 d d_ff) + d V))"
"""Two FLOPs for a weight and token forward, four backward; without padding, attention scores and element-wise work.

A source token passes the four maps of self-attention, the keys and values of cross-attention and the feed-forward
network of each layer; a target token those of self-attention, the queries and the output of cross-attention, the
feed-forward network, and the output layer.
"""


def training_flops(model: TransformerSection, vocabulary: int, source_tokens: float, target_tokens: float) -> float:
    d = model.d_model
    layer = 6 * d * d + 2 * d * model.d_ff
    # keys and values of cross-attention are computed from the source, once for each layer of the decoder
    source = model.encoder_layers * (4 * d * d + 2 * d * model.d_ff) + model.decoder_layers * 2 * d * d
    return 6 * (source_tokens * source + target_tokens * (model.decoder_layers * layer + d * vocabulary))


def slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """b of y = a x^b, fitted by least squares to the logarithms."""
    u, v = [math.log(x) for x in xs], [math.log(y) for y in ys]
    mean_u, mean_v = sum(u) / len(u), sum(v) / len(v)
    covariance = sum((a - mean_u) * (b - mean_v) for a, b in zip(u, v, strict=True))
    return covariance / sum((a - mean_u) ** 2 for a in u)
