"""The report of a translator: adds quality by length and sentence, examples and attention to the common report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tongsa.config import Recipe, TransformerSection
from tongsa.evaluation.calibration import groups_by_confidence, median_split, roc_area
from tongsa.evaluation.metrics import METRICS, SENTENCE_METRIC, score, text_metric
from tongsa.pages import heatmaps
from tongsa.pages.charts import BarChart, Group, Line, LineChart, draw_bars, draw_histogram, draw_lines
from tongsa.pages.examples import Example, draw_examples, read_examples
from tongsa.pages.frame import Section
from tongsa.pages.markup import escape, missing
from tongsa.pages.record import TrainingRecord
from tongsa.pages.report import Subject, write_report
from tongsa.runs.directory import Run
from tongsa.text.languages import language_name
from tongsa.translation.translator import Translator

BUCKETS = 7
BY_LENGTH = ("bleu", "chrf")
"""Metrics from 0 to 100 that are shown side by side, by sentence length."""
FEWEST_RATED = 25
"""Number of translations from which their confidence is compared with their quality."""
PICTURES = 3
"""Number of sentences whose attention is drawn."""
PICTURED = 16
"""Maximum number of tokens on a side of a picture: more would be unreadable."""


def write_translation_report(run: Run, translator: Translator) -> Path:
    record = TrainingRecord.read(run)
    return write_report(run, record, subject(record, translator))


def subject(record: TrainingRecord, translator: Translator) -> Subject:
    card = record.card
    examples = read_examples(record.examples)
    scores = sentence_scores(examples, card.target)
    decoding = card.recipe.decoding
    on = f"on {len(examples):,} validation sentences " if examples else ""
    note = "<del>Not in the reference</del> <ins>not in the translation</ins>" if examples else ""
    return Subject(
        kind="translator",
        title=f"{language_name(card.source)} → {language_name(card.target)}",
        description=in_words(card.recipe),
        parameters=sum(parameter.numel() for parameter in translator.native.model.parameters()),
        examples="sentence pairs",
        tokens="target tokens",
        scored=f"{on}with beam {decoding.beam}, length penalty {decoding.length_penalty:g}",
        command=("--from", card.source, "--to", card.target),
        sections=[
            Section(
                key="quality",
                title="Quality",
                note="on the validation set",
                content=_quality(examples, scores, translator),
            ),
            Section(key="examples", title="Examples", note=note, content=_examples(examples, scores, translator)),
            Section(key="attention", title="Attention", content=_attention(examples, scores, translator)),
        ],
    )


def in_words(recipe: Recipe) -> str:
    """A one-sentence description of the model."""
    model, subwords = recipe.model, recipe.subwords
    shared = f"{subwords.size:,} {'shared ' if subwords.joint else ''}"
    vocabulary = {
        "bpe": f"{shared}BPE subwords",
        "unigram": f"{shared}unigram subwords",
        "char": "characters for subwords",
        "byte": "bytes for subwords",
    }[subwords.kind]
    if not isinstance(model, TransformerSection):
        return f"A model of the architecture {model.architecture} with d_model {model.d_model} and {vocabulary}"
    base = TransformerSection(d_model=model.d_model, heads=model.heads)
    twists = [
        words
        for deviates, words in (
            (model.norm == "pre", "LayerNorm before each sublayer"),
            (model.activation != base.activation, model.activation.upper()),
            (model.positions == "learned", "learned positions"),
            (not model.tied, "untied embeddings"),
        )
        if deviates
    ] + model.experimental()
    return (
        f"A Transformer of {model.encoder_layers} encoder and {model.decoder_layers} decoder layers, "
        f"d_model {model.d_model}, d_ff {model.d_ff}, {model.heads} heads, {vocabulary}"
        + (f"; {', '.join(twists)}" if twists else "")
    )


def _quality(examples: Sequence[Example], scores: Sequence[float], translator: Translator) -> str:
    if not examples:
        return missing("validation.jsonl is missing or empty: it is written when a training ends.")
    source = translator.subwords.source
    figures = [by_length(examples, lambda text: len(source.encode(text)), translator.card.target)]
    figures += distributions(examples, scores)
    return f'<div class="charts">{"".join(figures)}</div>'


def _examples(examples: Sequence[Example], scores: Sequence[float], translator: Translator) -> str:
    if not examples:
        return missing("There are no examples: validation.jsonl is missing or empty.")
    return draw_examples(examples, scores, translator.card.source, translator.card.target)


def _attention(examples: Sequence[Example], scores: Sequence[float], translator: Translator) -> str:
    if not examples:
        return missing("There are no sentences to draw: validation.jsonl is missing or empty.")
    source = translator.subwords.source
    parts = []
    for place in pictured(examples, scores, lambda text: len(source.encode(text))):
        inspection = translator.inspect(examples[place].source)
        found = [heatmaps.draw_heads(kind, open_at_once=i == 0) for i, kind in enumerate(inspection.kinds())]
        if found:
            parts.append(f'<div class="sentence">{_pair(examples[place], translator)}{"".join(found)}</div>')
    if not parts:
        architecture = translator.card.recipe.model.architecture
        return missing(f"No attention to show: the architecture {architecture} gives no weights.")
    return f"{heatmaps.LEGEND}{''.join(parts)}"


def _pair(example: Example, translator: Translator) -> str:
    return (
        f'<h3 dir="auto" lang="{escape(translator.card.source)}">{escape(example.source)}</h3>'
        f'<p dir="auto" lang="{escape(translator.card.target)}">{escape(example.translation)}</p>'
    )


def pictured(examples: Sequence[Example], scores: Sequence[float], measure: Callable[[str], int]) -> list[int]:
    """Sentences short enough for a readable picture, best translations first, all of different lengths."""
    fitting = [i for i, example in enumerate(examples) if 3 <= measure(example.source) < PICTURED]
    if not fitting:
        fitting = sorted(range(len(examples)), key=lambda i: measure(examples[i].source))[:PICTURES]
    ordered = sorted(fitting, key=lambda i: (-(scores[i] >= 50), abs(measure(examples[i].source) - 9), -scores[i]))
    chosen: list[int] = []
    for place in ordered:
        if all(examples[place].source.split()[:2] != examples[other].source.split()[:2] for other in chosen):
            chosen.append(place)
        if len(chosen) == PICTURES:
            break
    return chosen


def sentence_scores(examples: Sequence[Example], target: str) -> list[float]:
    """The score of each translation by itself, by a metric that is meaningful for single sentences."""
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
        groups.append(Group(label, [each.score for each in found.values()], len(inside)))
    return draw_bars(
        BarChart(
            title="Scores by length",
            note="on the validation set",
            names=[METRICS[name].title for name in BY_LENGTH],
            groups=groups,
            under="subwords of the source",
        )
    )


def distributions(examples: Sequence[Example], scores: Sequence[float]) -> list[str]:
    """Distribution of the quality and of the model's own score, and how well the two agree."""
    figures = []
    if len(scores) > 1:
        metric = METRICS[SENTENCE_METRIC].title
        note = f"{metric} of {len(scores):,} translations"
        figures.append(draw_histogram(scores, "Sentence by sentence", note, f"sentence {metric}", bounds=(0, 100)))
    known = [(e.score, quality) for e, quality in zip(examples, scores, strict=True) if e.score is not None]
    if len(known) > 1:
        under = "log-probability over the length penalty: nearer to 0 is surer"
        own_scores = [own for own, _ in known]
        figures.append(draw_histogram(own_scores, "The model's own score", f"of {len(known):,} translations", under))
    if len(known) >= FEWEST_RATED:
        figures.append(_confidence(known))
    return figures + reliability(examples, scores)


def reliability(examples: Sequence[Example], scores: Sequence[float]) -> list[str]:
    """Whether the confidence is the quality: both as means of groups of translations, the least certain first."""
    known = [(100 * e.confidence, score) for e, score in zip(examples, scores, strict=True) if e.confidence is not None]
    if len(known) < FEWEST_RATED:
        return []
    confidences, qualities = [confidence for confidence, _ in known], [score for _, score in known]
    area = roc_area(*median_split(confidences, qualities))
    metric = METRICS[SENTENCE_METRIC].title
    chart = LineChart(
        title="Reliability",
        note=f"mean {metric} by confidence; ROC area {area:.2f} for worse than the median",
        lines=[
            Line("as expected", "train", [(0.0, 0.0), (100.0, 100.0)]),
            Line("measured", "valid", groups_by_confidence(confidences, qualities), marks=True),
        ],
        under="confidence in percent, in groups of equal size",
        tell=lambda confidence: f"confidence {confidence:.1f}%",
        across=(0.0, 100.0),
        from_zero=True,
    )
    return [draw_lines(chart)]


def _confidence(known: list[tuple[float, float]]) -> str:
    ordered, metric = sorted(known), METRICS[SENTENCE_METRIC].title
    names = ["least sure", "less sure", "middling", "surer", "surest"]
    groups = []
    for i, name in enumerate(names):
        part = ordered[round(i * len(ordered) / 5) : round((i + 1) * len(ordered) / 5)]
        groups.append(Group(name, [sum(quality for _, quality in part) / len(part)], len(part)))
    agreement = rank_correlation([own for own, _ in known], [quality for _, quality in known])
    return draw_bars(
        BarChart(
            title="Does it know when it is right?",
            note=f"{metric} by how sure it is; Spearman ρ {agreement:.2f}",
            names=[f"mean {metric}"],
            groups=groups,
            under="fifths of the sentences, by the model's own score",
        )
    )


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's correlation: Pearson's correlation of the ranks; ties share a rank."""
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
