"""The results of all models together: scores with significance, quality by length, Table 1, examples."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tongsa.evaluation.contracts import TextMetric
from tongsa.evaluation.metrics import SENTENCE_METRIC, text_metric, text_metrics
from tongsa.evaluation.significance import TestedScore, paired_bootstrap
from tongsa.lab.compare import complexity
from tongsa.lab.compare.plan import CompareOptions, ComparisonPlan
from tongsa.lab.compare.preparing import Texts
from tongsa.lab.compare.results import Result
from tongsa.pages.translation import length_buckets
from tongsa.text.lines import tidy
from tongsa.text.subwords import Subwords, Vocabulary

BUCKETS = 7
FEWEST = 10
"""Minimum number of sentences in a bucket: the score of fewer is unreliable."""
PICTURED = 11
"""Approximate length, in subwords, of the sentence whose attention is drawn."""


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """The test sentences of one range of source lengths (both ends included), in subwords."""

    low: int
    high: int
    count: int
    mean: float
    scores: dict[str, float]
    """Score of each system, by the metric that ranks them."""


@dataclass(frozen=True, kw_only=True)
class Example:
    source: str
    reference: str
    length: int
    translations: dict[str, str]
    scores: dict[str, float]
    """Score of each system, by the metric for single sentences."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Everything that table and page show; `results` in the order of the plan, `ranking` with the best first."""

    plan: ComparisonPlan
    results: dict[str, Result]
    failed: dict[str, str]
    sentences: int
    mean_length: float
    """Mean length of the test sources, in subwords including the end."""
    best: str
    ranking: list[str]
    scores: dict[str, dict[str, TestedScore]]
    """Scores by system and metric; the first metric ranks."""
    lengths: list[Bucket]
    table1: list[complexity.Row]
    examples: list[Example]

    @property
    def options(self) -> CompareOptions:
        return self.plan.options

    @property
    def metrics(self) -> list[TextMetric]:
        """The metrics; the first one ranks the systems."""
        return text_metrics(self.plan.options.metrics)

    def to_values(self) -> dict[str, Any]:
        """The content of comparison.json; the translations of the whole test set stay in results/."""
        results = {}
        for name in self.ranking:
            result = self.results[name]
            values = dataclasses.asdict(result)
            del values["translations"], values["picture"]
            scores = {key: dataclasses.asdict(judged) for key, judged in self.scores[name].items()}
            results[name] = {**values, "training_flops": result.training_flops, "scores": scores}
        return {
            "plan": self.plan.to_values(),
            "sentences": self.sentences,
            "mean_length": self.mean_length,
            "best": self.best,
            "models": results,
            "failed": self.failed,
            "by_length": [dataclasses.asdict(bucket) for bucket in self.lengths],
            "table1": [dataclasses.asdict(row) for row in self.table1],
            "examples": [dataclasses.asdict(example) for example in self.examples],
        }


def compare_results(
    plan: ComparisonPlan, results: Mapping[str, Result], test: Texts, vocabulary: Vocabulary, failed: Mapping[str, str]
) -> Comparison:
    references = [reference for _, reference in test]
    systems = {name: result.translations for name, result in results.items()}
    sources = [source for source, _ in test]
    options = plan.options
    metric = text_metric(options.metrics[0])
    ranking = metric.ranking(
        {
            name: metric.corpus(lines, references, language=options.target, sources=sources).score
            for name, lines in systems.items()
        }
    )
    lengths = [len(vocabulary.encode(tidy(source))) + 1 for source, _ in test]
    n = sum(lengths) / len(lengths)
    return Comparison(
        plan=plan,
        results=dict(results),
        failed=dict(failed),
        sentences=len(test),
        mean_length=n,
        best=ranking[0],
        ranking=ranking,
        scores=paired_bootstrap(
            systems, references, options.target, baseline=ranking[0], metrics=options.metrics, sources=sources
        ),
        lengths=by_length(metric, systems, test, lengths, options.target),
        table1=[complexity.row(name, plan.recipes[name].model, n) for name in results],
        examples=examples(systems, test, lengths, options.target),
    )


def by_length(
    metric: TextMetric,
    systems: Mapping[str, Sequence[str]],
    test: Texts,
    lengths: Sequence[int],
    target: str,
) -> list[Bucket]:
    """The score of every system by sentence length, on the same sentences."""
    found = []
    for low, high in length_buckets(lengths, min(BUCKETS, max(1, len(lengths) // FEWEST))):
        inside = [i for i, length in enumerate(lengths) if low <= length <= high]
        sources, references = ([test[i][side] for i in inside] for side in (0, 1))
        found.append(
            Bucket(
                low=low,
                high=high,
                count=len(inside),
                mean=sum(lengths[i] for i in inside) / len(inside),
                scores={
                    name: metric.corpus([lines[i] for i in inside], references, language=target, sources=sources).score
                    for name, lines in systems.items()
                },
            )
        )
    return found


def examples(systems: Mapping[str, Sequence[str]], test: Texts, lengths: Sequence[int], target: str) -> list[Example]:
    """A short, a middling, a long and a very long sentence, chosen by their length alone."""
    order = sorted(range(len(test)), key=lambda i: (lengths[i], i))
    metric = text_metric(SENTENCE_METRIC)
    chosen = dict.fromkeys(order[round(share * (len(order) - 1))] for share in (0.15, 0.5, 0.85, 0.98))
    return [
        Example(
            source=test[i][0],
            reference=test[i][1],
            length=lengths[i],
            translations={name: lines[i] for name, lines in systems.items()},
            scores={
                name: metric.sentence(lines[i], test[i][1], language=target, source=test[i][0])
                for name, lines in systems.items()
            },
        )
        for i in chosen
    ]


def pictured(test: Texts, subwords: Subwords) -> int:
    """The index of a sentence that makes a readable picture: both sides have about the same number of subwords."""

    def strangeness(place: int) -> tuple[int, int]:
        source, target = (
            len(vocabulary.encode(tidy(text)))
            for vocabulary, text in zip((subwords.source, subwords.target), test[place], strict=True)
        )
        return abs(source - PICTURED) + abs(target - PICTURED) + 100 * (min(source, target) == 0), place

    return min(range(len(test)), key=strangeness)
