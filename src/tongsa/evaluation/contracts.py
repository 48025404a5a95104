"""What a metric is: how good a model is, as one number. To add one, see docs/extend/metric.md.

A text metric compares texts with references (BLEU); a mean metric is made of a sum over some number of things, as a
loss or a count of right answers is (perplexity, accuracy). Every metric knows whether higher or lower is better, so
that whoever compares two scores (selection of checkpoints, rankings, significance, charts) need not know which it is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tongsa.base.errors import UsageError
from tongsa.runs.card import Score


class Metric:
    """What every metric tells about itself. Its name is its key in METRICS, in a log and on a card."""

    name: str
    title: str
    """As in a heading: BLEU."""
    unit: str
    """What the number counts, for a reader who does not know: `edits per 100 words`."""
    higher_is_better: bool = True
    digits: int = 2
    """Decimal places worth printing."""

    @property
    def meaning(self) -> str:
        return f"{self.unit}, {'higher' if self.higher_is_better else 'lower'} is better"

    def better(self, score: float, than: float | None) -> bool:
        """Whether a score is better than another one; any score is better than none."""
        if than is None or math.isnan(than):
            return True
        return score > than if self.higher_is_better else score < than

    def ranking(self, scores: Mapping[str, float]) -> list[str]:
        """Names from the best score to the worst; equal ones in their given order, NaN last."""
        sign = -1 if self.higher_is_better else 1
        return sorted(scores, key=lambda name: math.inf if math.isnan(scores[name]) else sign * scores[name])

    def format(self, score: float) -> str:
        return f"{score:,.{self.digits}f}"


class TextMetric(Metric, ABC):
    """Compares texts with references.

    The score of a corpus is computed from sums over its sentences, which makes resampling cheap. A metric that is the
    mean of its sentence scores defines `sentence` alone; another one also `statistics` and `from_statistics`.
    """

    needs_source: bool = False

    @abstractmethod
    def sentence(self, hypothesis: str, reference: str, *, language: str, source: str = "") -> float:
        """The score of one sentence; `language` is the code of the reference's language."""

    def corpus(
        self, hypotheses: Sequence[str], references: Sequence[str], *, language: str, sources: Sequence[str] = ()
    ) -> Score:
        """The score of a corpus, rounded to three decimal places."""
        rows = self.statistics(hypotheses, references, language=language, sources=sources)
        sums = [sum(column) for column in zip(*rows, strict=True)]
        return Score(round(float(self.from_statistics(sums)), 3), self.signature(language))

    def statistics(
        self, hypotheses: Sequence[str], references: Sequence[str], *, language: str, sources: Sequence[str] = ()
    ) -> list[list[float]]:
        """A row of numbers for each sentence; their sums give the score of the corpus."""
        if self.needs_source and len(sources) != len(references):
            raise UsageError(f"the metric {self.name} needs the source of every sentence")
        return [
            [self.sentence(hypothesis, reference, language=language, source=source), 1.0]
            for hypothesis, reference, source in zip(
                hypotheses, references, sources or [""] * len(references), strict=True
            )
        ]

    def from_statistics(self, sums: Sequence[float]) -> float:
        """The score that sums over sentences give: by default the mean of the sentence scores."""
        return sums[0] / sums[1]

    def signature(self, language: str) -> str:
        """Settings and version: the package's by default."""
        package = type(self).__module__.partition(".")[0]
        import importlib.metadata  # slow to import, and most commands need no signature

        try:
            return f"{self.name}|{package}:{importlib.metadata.version(package)}"
        except importlib.metadata.PackageNotFoundError:
            return self.name


@dataclass(frozen=True)
class MeanMetric(Metric):
    """Made of a sum over some number of things: a loss over tokens, right answers over questions."""

    name: str
    title: str
    unit: str
    of_mean: Callable[[float], float]
    """From the mean to the score."""
    higher_is_better: bool = False
    digits: int = 2

    def corpus(self, total: float, count: int) -> Score:
        return Score(self.of_mean(total / max(1, count)), f"{self.name}|n:{count}")
