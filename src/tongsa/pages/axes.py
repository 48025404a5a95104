"""From values to places on paper, with ticks at round numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tongsa.pages.markup import number


def _alike(low: float, high: float) -> bool:
    """Nothing lies between them that a label could tell from them."""
    return not high - low > 1e-9 * max(abs(low), abs(high))


def round_ticks(low: float, high: float, about: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten within [low, high], about so many of them."""
    if _alike(low, high):
        return [low]
    rough = (high - low) / max(1, about)
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((multiple * power for multiple in (1, 2, 5, 10)), key=lambda size: abs(math.log(size / rough)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{place * step:.15g}") for place in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten; the powers alone where that is enough."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for multiples in ((1,), (1, 3), (1, 2, 5)):
        ticks = [
            float(f"{m}e{power}")
            for power in powers
            for m in multiples
            if low * 0.999 <= m * 10.0**power <= high * 1.001
        ]
        if len(ticks) >= 3:
            return ticks
    return round_ticks(low, high, 4)


@dataclass(frozen=True)
class Axis:
    """Values from low to high laid from one place to another."""

    low: float
    high: float
    begin: float
    end: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(max(value, low))
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.begin + (self.end - self.begin) * min(1.0, max(0.0, share)), 1)

    def ticks(self, about: int) -> list[float]:
        return log_ticks(self.low, self.high) if self.logarithmic else round_ticks(self.low, self.high, about)


def padded(values: list[float], about: int = 5, *, from_zero: bool = False) -> tuple[float, float]:
    """Round bounds that hold the values."""
    low, high = (0.0 if from_zero else min(values)), max(values)
    if _alike(low, high):
        room = max(1.0, abs(high))
        low, high = (0.0 if from_zero else low - room), high + room
    ticks = round_ticks(low, high, about)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else (high - low)
    return (0.0 if from_zero else math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step)


def short(value: float) -> str:
    """A tick in few letters: 20k, 1.5M, 0.003."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            unit = 1e3 if letter == "k" else size
            return f"{value / unit:.4g}{letter}"
    return number(value)
