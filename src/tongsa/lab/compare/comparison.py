"""The results of all models together: scores with significance, quality by length, Table 1, examples."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tongsa.evaluation.contracts import TextMetric
from tongsa.evaluation.metrics import SENTENCE_METRIC, text_metric, text_metrics
from tongsa.evaluation.seeds import SeededScore, SystemsByMetric, compare_runs
from tongsa.lab.compare import complexity
from tongsa.lab.compare.plan import Budget, CompareOptions, ComparisonPlan
from tongsa.lab.compare.preparing import Texts
from tongsa.lab.compare.results import Result
from tongsa.pages.translation import length_buckets
from tongsa.text.lines import tidy
from tongsa.text.subwords import Subwords, Vocabulary

BUCKETS = 7
FEWEST = 10
"""Minimum number of sentences in a bucket: the score of fewer is unreliable."""
LENGTH_DRAWS = 400
"""Draws for the interval of each score by length."""
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
    """Score of each system, by the metric that ranks them: the mean of its seeds."""
    intervals: dict[str, float]
    """Half the width of the 95% interval of each score, over sentences and seeds."""


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
    """Everything that table and page show for one budget; `runs` in the order of the plan, `ranking` best first."""

    plan: ComparisonPlan
    budget: Budget
    runs: dict[str, dict[int, Result]]
    """Results by model and seed."""
    unfinished: dict[str, str]
    """Why trainings have no result, by the name of their directory."""
    sentences: int
    mean_length: float
    """Mean length of the test sources, in subwords including the end."""
    best: str
    ranking: list[str]
    tested: dict[str, SystemsByMetric]
    """Scores, and tests of all pairs, by metric; the first metric ranks."""
    lengths: list[Bucket]
    table1: list[complexity.Row]
    examples: list[Example]

    @property
    def results(self) -> dict[str, Result]:
        """The result of each model's first seed, for what is shown of one training: curves, attention, examples."""
        return {name: next(iter(by_seed.values())) for name, by_seed in self.runs.items()}

    @property
    def scores(self) -> dict[str, dict[str, SeededScore]]:
        """Scores by system and metric."""
        return {name: {key: each.scores[name] for key, each in self.tested.items()} for name in self.ranking}

    def mean(self, name: str, of: Callable[[Result], float]) -> float:
        """Mean over the seeds of a model."""
        return statistics.fmean(map(of, self.runs[name].values()))

    @property
    def seeds(self) -> int:
        """The largest number of seeds that a model has results of."""
        return max(len(by_seed) for by_seed in self.runs.values())

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
            scores = {key: dataclasses.asdict(tested) for key, tested in self.scores[name].items()}
            seeds = {str(seed): _measured(result) for seed, result in self.runs[name].items()}
            results[name] = {"scores": scores, "seeds": seeds}
        return {
            "plan": self.plan.to_values(),
            "budget": dataclasses.asdict(self.budget),
            "sentences": self.sentences,
            "mean_length": self.mean_length,
            "best": self.best,
            "models": results,
            "unfinished": self.unfinished,
            "pairs": {
                key: [[one, other, p] for (one, other), p in each.pairs.items()] for key, each in self.tested.items()
            },
            "by_length": [dataclasses.asdict(bucket) for bucket in self.lengths],
            "table1": [dataclasses.asdict(row) for row in self.table1],
            "examples": [dataclasses.asdict(example) for example in self.examples],
        }


def _measured(result: Result) -> dict[str, Any]:
    values = dataclasses.asdict(result)
    del values["translations"], values["picture"]
    return {**values, "training_flops": result.training_flops}


def compare_results(
    plan: ComparisonPlan,
    budget: Budget,
    runs: Mapping[str, Mapping[int, Result]],
    test: Texts,
    vocabulary: Vocabulary,
    unfinished: Mapping[str, str],
) -> Comparison:
    sources, references = [source for source, _ in test], [reference for _, reference in test]
    systems = {name: [result.translations for result in by_seed.values()] for name, by_seed in runs.items()}
    options = plan.options
    tested = compare_runs(systems, references, options.target, metrics=options.metrics, sources=sources)
    metric = options.metrics[0]
    ranking = tested[metric].ranking
    lengths = [len(vocabulary.encode(tidy(source))) + 1 for source, _ in test]
    n = sum(lengths) / len(lengths)
    return Comparison(
        plan=plan,
        budget=budget,
        runs={name: dict(by_seed) for name, by_seed in runs.items()},
        unfinished=dict(unfinished),
        sentences=len(test),
        mean_length=n,
        best=ranking[0],
        ranking=ranking,
        tested=tested,
        lengths=by_length(metric, systems, test, lengths, options.target),
        table1=[complexity.row(name, plan.recipes[name].model, n) for name in runs],
        examples=examples({name: lines[0] for name, lines in systems.items()}, test, lengths, options.target),
    )


def by_length(
    metric: str,
    systems: Mapping[str, Sequence[Sequence[str]]],
    test: Texts,
    lengths: Sequence[int],
    target: str,
) -> list[Bucket]:
    """The score of every system by sentence length, on the same sentences, with its interval."""
    found = []
    for low, high in length_buckets(lengths, min(BUCKETS, max(1, len(lengths) // FEWEST))):
        inside = [i for i, length in enumerate(lengths) if low <= length <= high]
        sources, references = ([test[i][side] for i in inside] for side in (0, 1))
        scores = compare_runs(
            {name: [[lines[i] for i in inside] for lines in runs] for name, runs in systems.items()},
            references,
            target,
            metrics=(metric,),
            sources=sources,
            draws=LENGTH_DRAWS,
        )[metric].scores
        found.append(
            Bucket(
                low=low,
                high=high,
                count=len(inside),
                mean=sum(lengths[i] for i in inside) / len(inside),
                scores={name: scores[name].score for name in systems},
                intervals={name: scores[name].interval for name in systems},
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
