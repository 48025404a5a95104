"""How good the translations are, and for which sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tongsa.evaluation.metrics import METRICS, SENTENCE_METRIC, score, text_metric
from tongsa.pages.bars import Bars, Group, draw, histogram
from tongsa.pages.run import Example

BUCKETS = 7
BY_LENGTH = ("bleu", "chrf")
"""Metrics from 0 to 100 that are shown side by side for short and for long sentences."""


def sentence_scores(examples: Sequence[Example], target: str) -> list[float]:
    """The score of each translation alone, by the metric that still means something for one sentence."""
    metric = text_metric(SENTENCE_METRIC)
    return [metric.sentence(e.translation, e.reference, language=target, source=e.source) for e in examples]


def length_buckets(lengths: Sequence[int], most: int = BUCKETS) -> list[tuple[int, int]]:
    """Ranges of lengths (both ends included) with about as many sentences each."""
    ordered = sorted(lengths)
    ends = sorted({ordered[min(len(ordered) - 1, round((i + 1) * len(ordered) / most) - 1)] for i in range(most)})
    starts = [ordered[0], *(end + 1 for end in ends[:-1])]
    return list(zip(starts, ends, strict=True))


def by_length(examples: Sequence[Example], measure: Callable[[str], int], target: str) -> str:
    """Scores of short and of long sentences."""
    lengths = [measure(example.source) for example in examples]
    groups = []
    for low, high in length_buckets(lengths, min(BUCKETS, max(1, len(examples) // 10))):
        inside = [e for e, length in zip(examples, lengths, strict=True) if low <= length <= high]
        found = score([e.translation for e in inside], [e.reference for e in inside], target, BY_LENGTH)
        label = str(low) if low == high else f"{low}–{high}"
        groups.append(Group(label, len(inside), [each.score for each in found.values()]))
    return draw(
        Bars(
            title="Scores by length",
            note="on the validation set",
            names=[METRICS[name].title for name in BY_LENGTH],
            groups=groups,
            under="subwords of the source",
        )
    )


def distributions(examples: Sequence[Example], chrf: Sequence[float]) -> list[str]:
    """How quality and the model's own score are spread, and whether it knows a good translation from a bad one."""
    figures = []
    if len(chrf) > 1:
        note = f"chrF of {len(chrf):,} translations"
        figures.append(histogram(chrf, "Sentence by sentence", note, "sentence chrF", bounds=(0, 100)))
    known = [(e.score, quality) for e, quality in zip(examples, chrf, strict=True) if e.score is not None]
    if len(known) < 2:
        return figures
    under = "log-probability over the length penalty: nearer to 0 is surer"
    own_scores = [own for own, _ in known]
    figures.append(histogram(own_scores, "The model's own score", f"of {len(known):,} translations", under))
    if len(known) >= 25:
        figures.append(_confidence(known))
    return figures


def _confidence(known: list[tuple[float, float]]) -> str:
    ordered = sorted(known)
    names = ["least sure", "less sure", "middling", "surer", "surest"]
    groups = []
    for i, name in enumerate(names):
        part = ordered[round(i * len(ordered) / 5) : round((i + 1) * len(ordered) / 5)]
        groups.append(Group(name, len(part), [sum(quality for _, quality in part) / len(part)]))
    agreement = rank_correlation([own for own, _ in known], [quality for _, quality in known])
    return draw(
        Bars(
            title="Does it know when it is right?",
            note=f"chrF by how sure it is; Spearman ρ {agreement:.2f}",
            names=["mean chrF"],
            groups=groups,
            under="fifths of the sentences, by the model's own score",
        )
    )


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's: Pearson's of the ranks, ties sharing theirs."""
    a, b = _ranks(one), _ranks(other)
    mean = (len(a) + 1) / 2
    above = sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True))
    below = (sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)) ** 0.5
    return above / below if below else 0.0


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=lambda i: values[i])
    ranks = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for place in order[first : last + 1]:
            ranks[place] = (first + last) / 2 + 1
        first = last + 1
    return ranks
