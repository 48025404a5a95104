"""Contracts of metrics, which score a model with one number. To add one, see docs/extend/metric.md.

A text metric compares texts with references (BLEU); a mean metric is computed from
the mean of a loss or of right answers (perplexity, accuracy). Every metric knows whether higher or lower is better, so
code that compares scores (checkpoint selection, rankings, significance, charts) works for all metrics.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tongsa.base.errors import UsageError
from tongsa.runs.card import Score


class Metric:
    """Properties of every metric. `name` is its key in METRICS, in logs and on cards."""

    name: str
    title: str
    """Name for headings: BLEU."""
    unit: str
    """Explanation of the number for readers: `edits per 100 words`."""
    higher_is_better: bool = True
    digits: int = 2
    """Decimal places worth printing."""

    @property
    def meaning(self) -> str:
        return f"{self.unit}, {'higher' if self.higher_is_better else 'lower'} is better"

    def better(self, score: float, than: float | None) -> bool:
        """Return True if a score is better than another; any score is better than none."""
        if than is None or math.isnan(than):
            return True
        return score > than if self.higher_is_better else score < than

    def ranking(self, scores: Mapping[str, float]) -> list[str]:
        """Sort names from the best score to the worst; ties keep their order, NaN comes last."""
        sign = -1 if self.higher_is_better else 1
        return sorted(scores, key=lambda name: math.inf if math.isnan(scores[name]) else sign * scores[name])

    def format(self, score: float) -> str:
        return f"{score:,.{self.digits}f}"


class TextMetric(Metric, ABC):
    """Compares texts with references.

    The score of a corpus is computed from sums over its sentences, which makes resampling cheap. A metric that is the
    mean of its sentence scores defines only `sentence`; others also define `statistics` and `from_statistics`.
    """

    needs_source: bool = False

    @abstractmethod
    def sentence(self, hypothesis: str, reference: str, *, language: str, source: str = "") -> float:
        """Score one sentence; `language` is the language code of the reference."""

    def corpus(
        self, hypotheses: Sequence[str], references: Sequence[str], *, language: str, sources: Sequence[str] = ()
    ) -> Score:
        """Score a corpus, rounded to three decimal places."""
        rows = self.statistics(hypotheses, references, language=language, sources=sources)
        sums = [sum(column) for column in zip(*rows, strict=True)]
        return Score(round(float(self.from_statistics(sums)), 3), self.signature(language))

    def statistics(
        self, hypotheses: Sequence[str], references: Sequence[str], *, language: str, sources: Sequence[str] = ()
    ) -> list[list[float]]:
        """Return a row of numbers per sentence; the sums of the columns determine the score of the corpus."""
        if self.needs_source and len(sources) != len(references):
            raise UsageError(f"the metric {self.name} needs the source of every sentence")
        return [
            [self.sentence(hypothesis, reference, language=language, source=source), 1.0]
            for hypothesis, reference, source in zip(
                hypotheses, references, sources or [""] * len(references), strict=True
            )
        ]

    def from_statistics(self, sums: Sequence[float]) -> float:
        """Compute the score from sums over sentences; by default the mean of the sentence scores."""
        return sums[0] / sums[1]

    def signature(self, language: str) -> str:
        """Settings and version of the metric; by default the version of its package."""
        package = type(self).__module__.partition(".")[0]
        import importlib.metadata  # slow to import, and most commands need no signature

        try:
            return f"{self.name}|{package}:{importlib.metadata.version(package)}"
        except importlib.metadata.PackageNotFoundError:
            return self.name


@dataclass(frozen=True)
class MeanMetric(Metric):
    """Computed from a mean: of the loss over tokens, or of right answers over questions."""

    name: str
    title: str
    unit: str
    of_mean: Callable[[float], float]
    """Converts the mean into the score."""
    higher_is_better: bool = False
    digits: int = 2

    def corpus(self, total: float, count: int) -> Score:
        return Score(self.of_mean(total / max(1, count)), f"{self.name}|n:{count}")
