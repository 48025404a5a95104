"""A question about the paper, answered by an experiment: what is measured, and what follows from it.

`measure` returns plain values, which are kept as JSON. `answer` computes everything that is shown from those values:
table, figures and the conclusion, in English or Korean. If the values come out otherwise, so does the conclusion.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tongsa.base.progress import Show

Values = dict[str, Any]
"""What an experiment measured; everything in it can be written as JSON."""

Words = Callable[[str, str], str]
"""Chooses between an English and a Korean text: `words("two heads", "헤드 두 개")`."""

LANGUAGES = ("en", "ko")


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much is trained; chosen so that a question takes at most a few minutes on two cores."""

    updates: int = 800
    pairs: int = 6000
    """Pairs of the smaller built-in grammar to train on."""
    held_out: int = 200
    """Pairs to measure perplexity and BLEU with."""
    subwords: int = 240
    """Pieces of the vocabulary."""


@dataclass(frozen=True, kw_only=True)
class Lab:
    """What an experiment works with."""

    folder: Path
    """For what is trained; work that was finished there is not done again."""
    show: Show
    seeds: int = 3
    run: Path | None = None
    """A translator of the user to look at, where the question allows it."""
    threads: int = 1
    effort: Effort = Effort()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What is shown; all of it in one language."""

    conclusion: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    figures: Sequence[str] = ()
    """HTML of the page kit."""


@dataclass(frozen=True, kw_only=True)
class Question:
    name: str
    section: str
    """Of the paper: "3.2.1"."""
    english: str
    korean: str
    measure: Callable[[Lab], Values]
    answer: Callable[[Values, Words], Answer]
    takes_run: bool = False
    """Whether it can look at a translator of the user."""


def words_in(language: str) -> Words:
    return (lambda english, korean: korean) if language == "ko" else (lambda english, korean: english)


@dataclass(frozen=True)
class Mean:
    """A mean over seeds with its 95% interval (Student's t)."""

    mean: float
    half: float
    """Half the width of the interval; infinite for a single value."""

    @property
    def low(self) -> float:
        return self.mean - self.half

    @property
    def high(self) -> float:
        return self.mean + self.half

    def text(self, digits: int = 2) -> str:
        around = f" ± {self.half:.{digits}f}" if math.isfinite(self.half) else ""
        return f"{self.mean:.{digits}f}{around}"


def mean_of(values: Sequence[float]) -> Mean:
    if len(values) < 2:
        return Mean(values[0], math.inf)
    return Mean(
        statistics.fmean(values), _students_t(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    )


def difference(these: Sequence[float], those: Sequence[float]) -> Mean:
    """Mean of the differences, seed by seed: the same seed begins with the same numbers on both sides."""
    return mean_of([this - that for this, that in zip(these, those, strict=True)])


def _students_t(freedom: int) -> float:
    """The 97.5% quantile of Student's t, from a table; beyond it the normal distribution's is near enough."""
    table = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
    return table[freedom - 1] if freedom <= len(table) else 1.96 + 2.6 / freedom
