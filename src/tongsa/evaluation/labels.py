"""Labels against the right ones: accuracy, confusion, and whether two classifiers differ by more than chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tongsa.evaluation.significance import aligned


@dataclass(frozen=True)
class Confusion:
    """How often each label was given for each right one."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    """By right label (rows) and given label (columns)."""

    @classmethod
    def of(cls, labels: Sequence[str], right: Sequence[str], given: Sequence[str]) -> Confusion:
        """A right label that the classifier does not know is added behind those that it knows."""
        every = tuple(dict.fromkeys([*labels, *right]))
        times = Counter(zip(right, given, strict=True))
        return cls(every, tuple(tuple(times[a, b] for b in every) for a in every))

    @property
    def total(self) -> int:
        return sum(map(sum, self.counts))

    @property
    def right(self) -> int:
        return sum(row[i] for i, row in enumerate(self.counts))

    def rows(self) -> list[list[str]]:
        """A table: right labels below each other, given ones beside each other, and the share of right ones."""
        found = [["right, given", *self.labels, "recall"]]
        for i, (label, row) in enumerate(zip(self.labels, self.counts, strict=True)):
            recall = f"{100 * row[i] / sum(row):.1f}%" if sum(row) else "–"
            found.append([label, *(str(times) if times else "." for times in row), recall])
        return found

    def as_text(self) -> str:
        accuracy = f"accuracy {100 * self.right / self.total:.2f}% ({self.right:,} of {self.total:,})"
        return "\n".join([accuracy, "", *(line.rstrip() for line in aligned(self.rows()))])


@dataclass(frozen=True)
class McNemar:
    """The test of McNemar (1947) of two classifiers on the same examples: only those count that one alone has right."""

    only_first: int
    only_second: int

    @classmethod
    def of(cls, right: Sequence[str], first: Sequence[str], second: Sequence[str]) -> McNemar:
        pairs = [(a == label, b == label) for label, a, b in zip(right, first, second, strict=True)]
        return cls(sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs))

    @property
    def p(self) -> float:
        """Exact, two-sided: how likely a fair coin divides these examples at least as unevenly."""
        few, many = sorted((self.only_first, self.only_second))
        n = few + many
        if few == many:
            return 1.0
        # Logarithms, since 2^n overflows for thousands of examples.
        tail = sum(math.exp(_log_choose(n, k) - n * math.log(2)) for k in range(few + 1))
        return min(1.0, 2 * tail)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
