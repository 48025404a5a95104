"""Whether one system is better than another, or only luckier: paired bootstrap resampling, by sacrebleu.

The test set is drawn anew a thousand times, sentence by sentence with replacement; a difference that such draws make
by chance is no difference (Koehn 2004).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tongsa.base.errors import UsageError
from tongsa.evaluation.contracts import TextMetric
from tongsa.evaluation.metrics import Sacrebleu, text_metrics

SAMPLES = 1000


@dataclass(frozen=True, kw_only=True)
class TestedScore:
    """A system's score, how far a new draw of the test set would move it, and whether it differs from the best."""

    __test__ = False  # pytest would take a class of this name for a test

    score: float
    interval: float
    """Half the width of the 95% interval."""
    p: float | None
    """How likely a difference to the best as large as this one is by chance; None for the best itself."""
    signature: str


def paired_bootstrap(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str],
    language: str,
    *,
    best: str,
    metrics: Sequence[str] = ("bleu", "chrf"),
    sources: Sequence[str] = (),
    samples: int = SAMPLES,
) -> dict[str, dict[str, TestedScore]]:
    """Score each system by each metric and test it against `best`: {system: {metric: ...}}."""
    from sacrebleu.significance import PairedTest

    if best not in systems:
        raise UsageError(f"{best} is none of the systems {', '.join(systems)}")
    if not references or any(len(lines) != len(references) for lines in systems.values()):
        raise UsageError("each system must have a translation for every reference, and there must be one at least")
    order = [best, *(name for name in systems if name != best)]
    used = {metric.name: _for_sacrebleu(metric, language, sources) for metric in text_metrics(metrics)}
    with _quiet():
        test = PairedTest(
            [(name, list(systems[name])) for name in order],
            used,
            [list(references)],
            test_type="bs",
            n_samples=samples,
        )
        signatures, found = test()
    theirs = dict(zip(used, test.metrics, strict=True))  # sacrebleu has names of its own, such as chrF2
    return {
        name: {
            metric: TestedScore(
                score=round(float(found[key][place].score), 3),
                interval=round(float(found[key][place].ci), 3),
                p=None if name == best else round(float(found[key][place].p_value), 4),
                signature=str(signatures[key]),
            )
            for metric, key in theirs.items()
        }
        for place, name in enumerate(order)
    }


def _for_sacrebleu(metric: TextMetric, language: str, sources: Sequence[str]) -> Any:
    """A metric as sacrebleu's tests want it: rows of statistics, and a score from their sums."""
    return metric.make(language, False) if isinstance(metric, Sacrebleu) else _Adapter(metric, language, sources)


@dataclass(frozen=True)
class _NamedScore:
    name: str
    score: float


class _Signature(dict[str, object]):
    """Sacrebleu adds the seed and the number of samples to it."""

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
