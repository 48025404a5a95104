"""Table 1, measured: what a layer of each kind costs as sentences (n) and layers (d) grow, and how far a signal goes.

Operations are counted by torch, time is that of the processor, the longest chain is counted in the graph of the
backward pass, and a path is as long as the number of layers until the last position depends on the first.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from tongsa.base.errors import UsageError
from tongsa.base.progress import Show
from tongsa.config.complexity import CONVOLUTION, DILATED, RECURRENT, RESTRICTED, SELF_ATTENTION, LayerKind
from tongsa.lab.compare.operations import recurrent_layers_taken_apart
from tongsa.lab.figures import lines
from tongsa.lab.paper.document import PaperTable
from tongsa.lab.tables import NOTHING, Part
from tongsa.models.attention import attention
from tongsa.models.cells import RecurrentEncoder
from tongsa.models.convolution import Convolution
from tongsa.models.variants import RestrictedAttention

NARROW = 4
"""Width of the layers whose chains and paths are measured, which do not depend on it."""
MOST_LAYERS = 600
"""Layers that are stacked at most to find a path."""


@dataclass(frozen=True, kw_only=True)
class Table1Options:
    lengths: tuple[int, ...] = (64, 128, 256, 512)
    """Lengths n that are measured."""
    widths: tuple[int, ...] = (64, 128, 256, 512)
    """Widths d that are measured."""
    kernel: int = 3
    """k of the convolutions."""
    neighbourhood: int = 15
    """r of restricted self-attention."""
    repeats: int = 9
    """Forward passes that are timed."""

    def __post_init__(self) -> None:
        if min(len(set(self.lengths)), len(set(self.widths))) < 2:
            raise UsageError("growth needs at least two lengths and two widths", "For example:  --lengths 64,128,256")
        if min(*self.lengths, *self.widths, self.repeats) < 1 or self.kernel % 2 == 0 or self.neighbourhood % 2 == 0:
            raise UsageError("lengths, widths and repeats are at least 1; kernel and neighbourhood are odd")


class SelfAttention(nn.Module):
    """softmax(XX^T / sqrt(d)) X: Table 1 counts the attention itself, and not its projections, which are n d²."""

    def forward(self, x: Tensor) -> Tensor:
        heads = x[:, None]  # (batch, 1, positions, d)
        return attention(heads, heads, heads, None)[:, 0]


class RestrictedSelfAttention(nn.Module):
    def __init__(self, r: int) -> None:
        super().__init__()
        self.function = RestrictedAttention(r, attention)

    def forward(self, x: Tensor) -> Tensor:
        heads = x[:, None]
        return self.function(heads, heads, heads, None)[:, 0]  # type: ignore[no-any-return]


class Recurrent(nn.Module):
    """h_t = tanh(W x_t + U h_{t-1} + b)"""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.encoder = RecurrentEncoder("rnn", d, d, 1, 0.0, bidirectional=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.encoder(x, torch.ones(x.shape[:2], dtype=torch.bool))[0]  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Row:
    """A layer type: how the layer of a given width and depth in a stack is made."""

    kind: LayerKind
    make: Callable[[int, int], nn.Module]
    """Of d, and of the number of layers below it."""


def rows(options: Table1Options) -> list[Row]:
    k, r = options.kernel, options.neighbourhood
    return [
        Row(SELF_ATTENTION, lambda d, below: SelfAttention()),
        Row(RECURRENT, lambda d, below: Recurrent(d)),
        Row(CONVOLUTION, lambda d, below: Convolution(d, d, k, masked=True)),
        Row(DILATED, lambda d, below: Convolution(d, d, k, dilation=k**below, masked=True)),
        Row(RESTRICTED, lambda d, below: RestrictedSelfAttention(r)),
    ]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What was measured of a layer type."""

    kind: LayerKind
    operations: dict[str, float]
    """Exponents of n and d in the number of operations: a layer of order n²·d has 2 and 1."""
    time: dict[str, float]
    """The same of the time."""
    by_length: list[tuple[float, float]]
    """(n, milliseconds)"""
    chain: dict[str, int]
    """Longest chain of operations that wait for each other, at the shortest and the longest n."""
    path: dict[str, int | None]
    """Layers, or steps of a recurrent one, from the first position to the last, at the same lengths."""


def measure_table_1(options: Table1Options, show: Show) -> list[Measured]:
    """Measure with one thread: the share of a product that several could do differs from row to row."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    found = []
    try:
        for row in rows(options):
            show.say(f"measuring: {row.kind.name}")
            found.append(_measure(row, options))
    finally:
        torch.set_num_threads(threads)
    return found


@torch.no_grad()
def _measure(row: Row, options: Table1Options) -> Measured:
    n, d = max(options.lengths), max(options.widths)
    lengths = [(length, _cost(row, length, d, options.repeats)) for length in sorted(set(options.lengths))]
    widths = [(width, _cost(row, n, width, options.repeats)) for width in sorted(set(options.widths))]
    ends = (min(options.lengths), n)
    return Measured(
        kind=row.kind,
        operations={
            "n": slope([(x, cost.operations) for x, cost in lengths]),
            "d": slope([(x, cost.operations) for x, cost in widths]),
        },
        time={
            "n": slope([(x, cost.seconds) for x, cost in lengths]),
            "d": slope([(x, cost.seconds) for x, cost in widths]),
        },
        by_length=[(x, 1000 * cost.seconds) for x, cost in lengths],
        chain={str(length): longest_chain(row, length, NARROW) for length in ends},
        path={str(length): path_length(row, length, NARROW) for length in ends},
    )


@dataclass(frozen=True)
class Cost:
    operations: float
    seconds: float


def _cost(row: Row, n: int, d: int, repeats: int) -> Cost:
    """Operations, and the processor's time, of one layer over one sentence; other programs do not count towards it."""
    torch.manual_seed(1)
    layer, x = row.make(d, 0).eval(), torch.randn(1, n, d)
    with recurrent_layers_taken_apart(), FlopCounterMode(display=False) as counter:
        layer(x)
    times = []
    for _ in range(repeats):
        began = time.process_time()
        layer(x)
        times.append(time.process_time() - began)
    return Cost(counter.get_total_flops(), min(times))


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The exponent b of y = a x^b, by least squares of the logarithms."""
    across, up = [math.log(x) for x, _ in points], [math.log(max(y, 1e-12)) for _, y in points]
    return statistics.linear_regression(across, up).slope


def longest_chain(row: Row, n: int, d: int) -> int:
    """Operations on the longest way through the graph of the backward pass: none of them can begin before the last."""
    with torch.enable_grad(), recurrent_layers_taken_apart():
        x = torch.randn(1, n, d, requires_grad=True)
        out = row.make(d, 0)(x)
    depth: dict[Any, int] = {None: 0}
    waiting = [out.grad_fn]
    while waiting:
        node = waiting[-1]
        below = [each for each, _ in node.next_functions if each is not None]
        missing = [each for each in below if each not in depth]
        if missing:
            waiting += missing
            continue
        depth[waiting.pop()] = 1 + max((depth[each] for each in below), default=0)
    return depth[out.grad_fn]


def path_length(row: Row, n: int, d: int) -> int | None:
    """Layers on top of each other until the last position depends on the first; of a recurrent layer, its n steps."""
    if row.kind is RECURRENT:
        return n if _reaches(row, n, d, 1) else None
    low, high = 0, 1
    while not _reaches(row, n, d, high):
        low, high = high, 2 * high
        if low > MOST_LAYERS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _reaches(row, n, d, middle) else (middle, high)
    return high


def _reaches(row: Row, n: int, d: int, layers: int) -> bool:
    """Whether the last position has a gradient at the first; in double precision, since it fades with depth."""
    with torch.enable_grad():
        first = torch.full((1, n, d), 0.1, dtype=torch.float64, requires_grad=True)
        x: Tensor = first
        for below in range(layers):
            layer = row.make(d, below).double()
            for parameter in layer.parameters():  # averages of the inputs: no two signals cancel each other out
                parameter.data.fill_(1 / max(parameter.shape) if parameter.dim() > 1 else 0)
            x = layer(x)
        (gradient,) = torch.autograd.grad(x[0, -1].sum(), first)
    return bool(gradient[0, 0].any())


def draw_table_1(found: Sequence[Measured], options: Table1Options) -> PaperTable:
    n, d = max(options.lengths), max(options.widths)
    few, many = str(min(options.lengths)), str(n)
    rows = [
        [
            each.kind.name,
            f"O({each.kind.complexity})",
            _powers(each.operations),
            _powers(each.time),
            f"{each.by_length[-1][1]:.2f} ms",
            f"O({each.kind.sequential})",
            f"{each.chain[few]:,} → {each.chain[many]:,}",
            f"O({each.kind.path})",
            f"{_hops(each.path[few])} → {_hops(each.path[many])}",
        ]
        for each in found
    ]
    head = ["layer type", "complexity", "operations grow as", "time grows as", f"time at n = {n}, d = {d}"]
    head += ["sequential operations", f"chain, n = {few} → {many}", "maximum path length", f"path, n = {few} → {many}"]
    return PaperTable(
        number=1,
        caption="complexity per layer, sequential operations and maximum path length, measured",
        parts=[Part(title="The paper's orders, and what was measured", head=head, rows=rows)],
        notes=[
            "Complexity, sequential operations and path length are the paper's orders; the columns after are measured.",
            "Operations are matrix products counted by torch; time is that of the processor for one layer over one "
            f"sentence, the shortest of {options.repeats} forward passes. Exponents are fitted over "
            f"n = {_list(options.lengths)} at d = {d}, and over d = {_list(options.widths)} at n = {n}; "
            "time also has costs that do not grow.",
            "Chain: operations that must wait for each other, counted in the graph of the backward pass. Path: layers "
            "on top of each other (steps of the recurrent layer) until the last position depends on the first.",
            f"k = {options.kernel}, r = {options.neighbourhood}. The paper's row for convolutions is log_k(n), that of "
            "dilated ones; contiguous kernels need n/k layers (§4). Convolutions see k positions up to "
            "their own, as a decoder's. Restricted self-attention needs 2n/r layers to the last position, since half "
            "of a neighbourhood is before its centre: the order is the same.",
            "Self-attention is counted without its projections, as in the paper; they are n·d², like any layer's.",
        ],
        figures=[
            lines(
                "Time of a layer by length",
                "length n",
                {each.kind.name: each.by_length for each in found},
                note=f"milliseconds, d = {d}",
                logarithmic=True,
                across_logarithmic=True,
            )
        ],
    )


def _powers(exponents: dict[str, float]) -> str:
    return f"n^{exponents['n']:.1f} d^{exponents['d']:.1f}"


def _hops(layers: int | None) -> str:
    return NOTHING if layers is None else f"{layers:,}"


def _list(values: Sequence[int]) -> str:
    return ", ".join(map(str, sorted(set(values))))
