"""Significance of differences between systems: paired bootstrap resampling, by sacrebleu.

The test set is resampled a thousand times, sentence by sentence with replacement; a difference that such samples show
by chance is not significant (Koehn 2004).
"""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tongsa.base.errors import UsageError
from tongsa.evaluation.contracts import TextMetric
from tongsa.evaluation.metrics import Sacrebleu, text_metrics

SAMPLES = 1000
SURE = 0.05
"""A difference is significant below this p."""


@dataclass(frozen=True, kw_only=True)
class TestedScore:
    """The score of a system, its confidence interval, and the p-value of its difference to the baseline."""

    __test__ = False  # pytest would collect a class of this name

    score: float
    interval: float
    """Half the width of the 95% interval."""
    p: float | None
    """Probability that a difference to the baseline this large arises by chance; None for the baseline itself."""
    signature: str


def with_interval(tested: TestedScore) -> str:
    return f"{tested.score:.1f} ± {tested.interval:.1f}"


def chance(tested: TestedScore, baseline: str) -> str:
    """The p value, with a star if the difference is significant; `baseline` for the baseline itself."""
    return baseline if tested.p is None else probability(tested.p)


def probability(p: float) -> str:
    return f"{'<0.001' if p < 0.001 else f'{p:.3f}'}{'*' if p < SURE else ''}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table for a terminal: the first column begins, and the others end, at the same place."""
    widths = [max(map(_columns, column)) for column in zip(*rows, strict=True)]

    def line(first: str, *others: str) -> str:
        blanks = [" " * (width - _columns(cell)) for cell, width in zip((first, *others), widths, strict=True)]
        return "  ".join([first + blanks[0], *(blank + cell for blank, cell in zip(blanks[1:], others, strict=True))])

    return [line(*row) for row in rows]


def _columns(text: str) -> int:
    """Columns of a terminal: Hangul and other East Asian letters take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def paired_bootstrap(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str],
    language: str,
    *,
    baseline: str,
    metrics: Sequence[str] = ("bleu", "chrf"),
    sources: Sequence[str] = (),
    samples: int = SAMPLES,
) -> dict[str, dict[str, TestedScore]]:
    """Score each system by each metric and test it against `baseline`: {system: {metric: ...}}."""
    from sacrebleu.significance import PairedTest

    if baseline not in systems:
        raise UsageError(f"unknown system: {baseline}", f"Systems: {', '.join(systems)}")
    if not references or any(len(lines) != len(references) for lines in systems.values()):
        raise UsageError("each system needs a translation for every reference, and there must be at least one")
    order = [baseline, *(name for name in systems if name != baseline)]
    named = [(name, list(systems[name])) for name in order]
    tested: dict[str, dict[str, TestedScore]] = {name: {} for name in order}
    for metric in text_metrics(metrics):  # one at a time: for sacrebleu, BLEU of any case has the same name
        used = {metric.name: for_sacrebleu(metric, language, sources)}
        with _quiet():
            signatures, found = PairedTest(named, used, [list(references)], test_type="bs", n_samples=samples)()
        ((theirs, signature),) = signatures.items()
        for name, result in zip(order, found[theirs], strict=True):
            tested[name][metric.name] = TestedScore(
                score=round(float(result.score), 3),
                interval=round(float(result.ci), 3),
                p=None if name == baseline else round(float(result.p_value), 4),
                signature=str(signature),
            )
    return tested


def for_sacrebleu(metric: TextMetric, language: str, sources: Sequence[str]) -> Any:
    """Adapts a metric to sacrebleu's tests: rows of statistics, and a score from their sums."""
    return metric.make(language, False) if isinstance(metric, Sacrebleu) else _Adapter(metric, language, sources)


@dataclass(frozen=True)
class _NamedScore:
    name: str
    score: float


class _Signature(dict[str, object]):
    """The signature, to which sacrebleu adds the seed and the number of samples."""

    def update(self, key: str, value: object) -> None:  # type: ignore[override]
        self[key] = value

    def __str__(self) -> str:
        return "|".join([str(self["metric"]), *(f"{key}:{value}" for key, value in self.items() if key != "metric")])


@dataclass(frozen=True)
class _Adapter:
    """The part of sacrebleu's metrics that its paired tests use."""

    metric: TextMetric
    language: str
    sources: Sequence[str]

    def get_signature(self) -> _Signature:
        return _Signature(metric=self.metric.signature(self.language))

    def _extract_corpus_statistics(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]]
    ) -> list[list[float]]:
        return self.metric.statistics(hypotheses, references[0], language=self.language, sources=self.sources)

    def _aggregate_and_compute(self, stats: Sequence[Sequence[float]]) -> _NamedScore:
        return self._compute_score_from_stats([sum(column) for column in zip(*stats, strict=True)])

    def _compute_score_from_stats(self, stats: Sequence[float]) -> _NamedScore:
        return _NamedScore(self.metric.name, float(self.metric.from_statistics(stats)))


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep sacrebleu from reporting each step on standard error."""
    log = logging.getLogger("sacrebleu")
    before = log.level
    log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(before)
