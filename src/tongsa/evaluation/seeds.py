"""Scores of systems that were trained several times, from different seeds, and tests of all pairs of them.

A difference can come from the sentences of the test set and from the seeds. Each draw of the bootstrap therefore draws
both, with replacement: the sentences, the same for all systems (Koehn 2004), and for each system its seeds. With few
seeds the variation between them is underestimated: drawn with replacement, two seeds show half of it, three two thirds.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tongsa.base.errors import UsageError
from tongsa.evaluation.contracts import TextMetric
from tongsa.evaluation.metrics import text_metrics
from tongsa.evaluation.significance import SAMPLES, TestedScore, for_sacrebleu

DRAWS_PER_PAIR = 100
"""At least as many draws for each pair: the smallest p, multiplied by the number of pairs, is then 0.01."""
SEED = 12345
"""Seed of the draws, the one that sacrebleu has."""
BLOCK = 500
"""Draws that are summed at once."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class SeededScore(TestedScore):
    """The mean score of a system's runs; its interval is over test sets and seeds, its p corrected for all pairs."""

    runs: tuple[float, ...]
    """The score of each run."""

    @property
    def deviation(self) -> float | None:
        """Standard deviation between the runs; None for a single one."""
        return statistics.stdev(self.runs) if len(self.runs) > 1 else None


@dataclass(frozen=True, kw_only=True)
class SystemsByMetric:
    """All systems by one metric."""

    metric: TextMetric
    ranking: list[str]
    """The best first."""
    scores: dict[str, SeededScore]
    """p is that of the difference to the best by the first metric."""
    pairs: dict[tuple[str, str], float]
    """p of every pair, better system first, by Holm's correction over all pairs."""
    draws: int


def compare_runs(
    systems: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[str],
    language: str,
    *,
    metrics: Sequence[str] = ("bleu", "chrf"),
    sources: Sequence[str] = (),
    draws: int | None = None,
) -> dict[str, SystemsByMetric]:
    """Compare systems by each metric: {metric: ...}. Each system has the outputs of one or several runs.

    The p of a score is that of its difference to the system that is the best by the first metric.
    """
    lengths = {len(lines) for runs in systems.values() for lines in runs}
    if not systems or not all(systems.values()) or lengths != {len(references)} or not references:
        raise UsageError("each run of a system needs a translation for every reference, and there must be at least one")
    pairs = math.comb(len(systems), 2)
    number = draws or max(SAMPLES, DRAWS_PER_PAIR * pairs)
    found: dict[str, SystemsByMetric] = {}
    best = None
    for metric in text_metrics(metrics):
        found[metric.name] = _by_metric(metric, systems, references, language, sources, number, best)
        best = best or found[metric.name].ranking[0]
    return found


def _by_metric(
    metric: TextMetric,
    systems: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[str],
    language: str,
    sources: Sequence[str],
    draws: int,
    best: str | None,
) -> SystemsByMetric:
    scorer = for_sacrebleu(metric, language, sources)
    rows = {
        name: [np.asarray(scorer._extract_corpus_statistics(list(lines), [list(references)]), float) for lines in runs]
        for name, runs in systems.items()
    }
    real = {name: tuple(_score(scorer, stats.sum(axis=0)) for stats in runs) for name, runs in rows.items()}
    means = {name: statistics.fmean(runs) for name, runs in real.items()}
    random = np.random.default_rng(SEED)
    drawn = _draw_sentences(rows, lambda sums: _score(scorer, sums), len(references), draws, random)
    drawn_means = {name: _draw_seeds(runs, random) for name, runs in drawn.items()}
    ranking = metric.ranking(means)
    raw = {
        (one, other): p_value(drawn_means[one] - drawn_means[other], means[one] - means[other])
        for one, other in itertools.combinations(ranking, 2)
    }
    pairs = dict(zip(raw, holm(list(raw.values())), strict=True))
    baseline = best or ranking[0]
    scores = {
        name: SeededScore(
            score=round(means[name], 3),
            interval=round(_half_width(drawn_means[name]), 3),
            p=None if name == baseline else round(_of_pair(pairs, baseline, name), 4),
            signature=f"{scorer.get_signature()}|draws:{draws}|seed:{SEED}",
            runs=tuple(round(score, 3) for score in real[name]),
        )
        for name in ranking
    }
    return SystemsByMetric(metric=metric, ranking=ranking, scores=scores, pairs=pairs, draws=draws)


def _of_pair(pairs: Mapping[tuple[str, str], float], one: str, other: str) -> float:
    return pairs[one, other] if (one, other) in pairs else pairs[other, one]


def _score(scorer: Any, sums: Floats) -> float:
    return float(scorer._compute_score_from_stats(sums).score)


def _draw_sentences(
    rows: Mapping[str, Sequence[Floats]],
    score: Callable[[Floats], float],
    sentences: int,
    draws: int,
    random: np.random.Generator,
) -> dict[str, Floats]:
    """Scores of every run on resampled test sets, the same ones for all: {system: (runs, draws)}."""
    found: dict[str, list[list[float]]] = {name: [[] for _ in runs] for name, runs in rows.items()}
    for first in range(0, draws, BLOCK):
        size = min(BLOCK, draws - first)
        times = random.multinomial(sentences, np.full(sentences, 1 / sentences), size=size).astype(float)
        for name, runs in rows.items():
            for stats, scores in zip(runs, found[name], strict=True):
                scores.extend(map(score, times @ stats))
    return {name: np.asarray(scores) for name, scores in found.items()}


def _draw_seeds(runs: Floats, random: np.random.Generator) -> Floats:
    """The mean score of as many runs as there are, drawn with replacement for each draw: (draws)."""
    chosen = random.integers(len(runs), size=runs.shape)
    return np.take_along_axis(runs, chosen, axis=0).mean(axis=0)  # type: ignore[no-any-return]


def _half_width(drawn: Floats) -> float:
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(high - low) / 2


def p_value(drawn: Floats, real: float) -> float:
    """Share of the drawn differences that are as far from their mean as the real difference is from 0.

    Both directions count, since nobody said beforehand which system is better; sacrebleu's test counts only one.
    """
    if not (math.isfinite(real) and np.isfinite(drawn).all()):
        return 1.0
    extreme = np.abs(drawn - drawn.mean()) >= abs(real)
    return float(extreme.sum() + 1) / (len(drawn) + 1)


def holm(p: Sequence[float]) -> list[float]:
    """Holm's correction (1979): the chance that any of the tests finds a difference where there is none stays below p.

    The smallest of m values is multiplied by m, the next one by m - 1, ...; none becomes smaller than the one before.
    """
    order = sorted(range(len(p)), key=p.__getitem__)
    adjusted = [0.0] * len(p)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p) - rank) * p[place]))
        adjusted[place] = highest
    return adjusted
