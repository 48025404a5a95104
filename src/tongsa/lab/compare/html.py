"""comparison.html: the results of a comparison as one page."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Callable, Mapping

import tongsa
from tongsa.config import Recipe
from tongsa.engines.inspection import shown
from tongsa.evaluation.metrics import METRICS, SENTENCE_METRIC
from tongsa.evaluation.significance import SURE, TestedScore, chance, with_interval
from tongsa.lab.compare.comparison import Comparison, Example
from tongsa.lab.compare.complexity import UNKNOWN, Order
from tongsa.lab.compare.plan import ComparisonPlan
from tongsa.lab.compare.results import Picture
from tongsa.lab.compare.table import cores, deviation, length_table, pair_table, scientific, significance_note
from tongsa.pages.charts import Line, LineChart, draw_lines
from tongsa.pages.examples import marked
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.heatmaps import draw_map
from tongsa.pages.markup import count, escape, missing, number, table
from tongsa.text.languages import language_name

COLOURS = 11
"""Colours of models that the kit has: as many as `--models all` names."""
CELL = 20
"""Size of a cell in the attention maps, which are shown side by side."""
TRAINING = ("batch_tokens", "schedule", "peak", "warmup", "clip", "label_smoothing", "average")
"""Keys of the section [training] that may differ between models."""


def draw_comparison(comparison: Comparison) -> str:
    plan = comparison.plan
    colours = {name: f"m{i % COLOURS}" for i, name in enumerate(comparison.results)}
    sections = [
        Section(key="scores", title="Scores", content=_scores(comparison, colours)),
        Section(key="figures", title="Figures", content=_figures(comparison, colours)),
        Section(
            key="table1",
            title="Table 1",
            note="of the paper, with the numbers of these models",
            content=_table1(comparison, colours),
        ),
        Section(key="attention", title="Attention", content=_attention(comparison, colours)),
        Section(
            key="examples",
            title="Examples",
            note="chosen by their length alone",
            content="".join(_example(example, comparison, colours) for example in comparison.examples),
        ),
        Section(key="recipes", title="Recipes", note="differences between models", content=_recipes(plan, colours)),
    ]
    languages = f"{language_name(plan.options.source)} → {language_name(plan.options.target)}"
    footer = f"Written by tongsa {tongsa.__version__} on {platform.machine()}, python {platform.python_version()}."
    return page(
        f"{languages}: {len(colours)} models",
        heading=_heading(comparison),
        sections=sections,
        footer=escape(footer),
    )


def _named(name: str, colours: Mapping[str, str]) -> str:
    """The name of a model beside its colour."""
    return f'<span class="name {colours.get(name, "m7")}">{escape(name)}</span>'


def _heading(comparison: Comparison) -> str:
    plan, options = comparison.plan, comparison.options
    tested = escape(", ".join(options.test) or "the validation set")
    return heading(
        f"{escape(language_name(options.source))} <i>→</i> {escape(language_name(options.target))}",
        over=f"a comparison of {len(comparison.results)} models",
        text=f"{escape(plan.describe(comparison.budget))} on {cores(options.threads)}, the same subwords and ids for "
        f"all; tested on {comparison.sentences:,} sentences of {tested}.",
    )


def _scores(comparison: Comparison, colours: dict[str, str]) -> str:
    metrics = comparison.metrics
    several = comparison.seeds > 1
    head = ["model"]
    for metric in metrics:
        head += [escape(metric.title), *(["sd of seeds"] if several else []), "p"]
    head += ["parameters", "updates", "minutes", "tokens/s", "training FLOPs", "sentences/s"]
    best = comparison.scores[comparison.best][metrics[0].name].score
    rows = []
    for name in comparison.ranking:
        result, scores = comparison.results[name], comparison.scores[name]
        reached = scores[metrics[0].name].score
        share = 100 * (reached / best if metrics[0].higher_is_better else best / reached) if reached and best else 0
        meter = f'<i class="meter {colours[name]}" style="width:{share:.1f}%"></i>'
        tested = []
        for metric in metrics:
            score = scores[metric.name]
            tested += [_with_interval(score), *([deviation(score)] if several else []), _chance(score)]
        rows.append(
            [
                _named(name, colours),
                tested[0] + meter,
                *tested[1:],
                count(result.parameters),
                f"{comparison.mean(name, lambda result: result.updates):,.0f}",
                f"{comparison.mean(name, lambda result: result.minutes):,.1f}",
                f"{comparison.mean(name, lambda result: result.tokens_per_second):,.0f}",
                _power(comparison.mean(name, lambda result: result.training_flops)),
                f"{comparison.mean(name, lambda result: result.sentences_per_second):,.1f}",
            ]
        )
    decoding = next(iter(comparison.plan.recipes.values())).decoding
    notes = (
        f"{significance_note(comparison)} A budget in minutes includes the validations; "
        "tokens/s (target tokens in training) leaves them out. "
        "FLOPs: matrix products and convolutions in training, forward and backward, counted by torch on chunks of the "
        f"corpus. sentences/s: beam {decoding.beam}, PyTorch for all, since CTranslate2 supports only the Transformer. "
        + " ".join(comparison.scores[comparison.best][metric.name].signature for metric in metrics)
    )
    failed = "".join(missing(f"{name} has no result: {why}") for name, why in comparison.unfinished.items())
    pairs = _pairs(comparison) if len(comparison.ranking) > 2 else ""
    return f'<div class="wide-table">{table(head, rows)}</div><p class="note">{escape(notes)}</p>{pairs}{failed}'


def _pairs(comparison: Comparison) -> str:
    head, rows = pair_table(comparison)
    cells = [[escape(cell) for cell in row] for row in rows]
    note = f"p of every pair by {comparison.metrics[0].title}, a model against those above it."
    return f'<div class="wide-table">{table(list(map(escape, head)), cells)}</div><p class="note">{escape(note)}</p>'


def _with_interval(tested: TestedScore) -> str:
    score, interval = with_interval(tested).split(" ", 1)
    return f"<b>{score}</b> <small>{interval}</small>"


def _chance(tested: TestedScore) -> str:
    sure = tested.p is not None and tested.p < SURE
    return f"<span{' class=sure' if sure else ''}>{escape(chance(tested, 'best').removesuffix('*'))}</span>"


def _power(value: float) -> str:
    mantissa, exponent = scientific(value).split("e")
    return f"{mantissa}·10<sup>{exponent}</sup>"


def _figures(comparison: Comparison, colours: dict[str, str]) -> str:
    def of_each(points: dict[str, list[tuple[float, float]]]) -> list[Line]:
        return [Line(name, colours[name], points[name], marks=len(points[name]) <= 20) for name in comparison.ranking]

    results = comparison.results
    metric = comparison.metrics[0]
    lengths = {name: [(b.mean, b.scores[name]) for b in comparison.lengths] for name in results}
    reach = {name: [(d, value) for d, value in result.reach] for name, result in results.items()}
    curves = {name: [(t, score) for t, score in result.curves.get(metric.name, [])] for name, result in results.items()}
    speed = {
        name: [(result.sentences_per_second, comparison.scores[name][metric.name].score)]
        for name, result in results.items()
    }
    charts = [
        LineChart(
            title=f"{metric.title} by source length",
            note="on the test set, the same sentences for all",
            under="subwords of the source, mean of each group",
            tell=lambda x: f"length {number(round(x, 1))}",
            lines=of_each(lengths),
            from_zero=True,
        ),
        LineChart(
            title="Influence of the first source token",
            note="relative change of a target feature per relative change of the embedding",
            under="positions from the first source token to the target token",
            tell=lambda x: f"distance {number(round(x, 1))}",
            lines=of_each(reach),
            logarithmic=True,
        ),
        LineChart(
            title=f"{metric.title} while training",
            note="on the validation set, greedy",
            under="minutes",
            tell=lambda x: f"minute {number(round(x, 1))}",
            lines=of_each(curves),
            from_zero=True,
        ),
        LineChart(
            title="Quality and speed",
            note=f"{metric.title} on the test set, beam search on the native engine",
            under="sentences per second",
            tell=lambda x: f"sentences/s {number(round(x, 1))}",
            lines=of_each(speed),
            from_zero=True,
            across_logarithmic=True,
        ),
    ]
    head, rows = length_table(comparison)
    lengths_table = table(list(map(escape, head)), [[escape(cell) for cell in row] for row in rows])
    drawn = "".join(draw_lines(chart) for chart in charts)
    return (
        f'<div class="charts">{drawn}</div>{_REACH_NOTE}<div class="wide-table">{lengths_table}</div>'
        f'<p class="note">{escape(metric.title)} by source length in subwords, with 95% intervals.</p>'
    )


_REACH_NOTE = (
    '<p class="note">Influence: with x the embedding of the first source token, f the feature that step t is '
    "predicted from and J = ∂f/∂x, it is ‖J‖<sub>F</sub>/√d<sub>x</sub> · ‖x‖/‖f‖, measured by automatic "
    "differentiation on references of the test set, as a geometric mean. The distance is n + t, the positions that a "
    "recurrent network carries the signal through; a decoder with attention, or an encoder that also reads backwards, "
    "has a shorter path. A trained decoder with attention attends less to the first token late in the sentence because "
    "it does not need to, so its line falls too.</p>"
)


def _table1(comparison: Comparison, colours: dict[str, str]) -> str:
    head = ["model", "layer type", "complexity per layer", "sequential operations", "maximum path length"]
    head += ["source to target", "layers", "d", "k", "encoder sees"]
    rows = []
    for row in comparison.table1:
        rows.append(
            [
                _named(row.name, colours),
                escape(row.kind),
                _order(row.complexity, _power),
                _order(row.sequential, "{:.0f}".format),
                _order(row.path, "{:.1f}".format),
                escape(row.decoder_path).replace("log_k", "log<sub>k</sub>"),
                escape(row.layers),
                f"{row.d:,}",
                "–" if row.k is None else str(row.k),
                escape(row.sees),
            ]
        )
    note = (
        f"n = {comparison.mean_length:.1f}, the mean length of the test sources in subwords; d and k are each model's "
        "own. The number beside a formula is its value for these: an order of growth, without the constants that the "
        "formula leaves out. Source to target is the path from a source position to a target position. What an "
        "encoder sees is exact: the source positions that one of its outputs depends on."
    )
    return f'<div class="wide-table texts">{table(head, rows)}</div><p class="note">{escape(note)}</p>'


def _order(order: Order | None, shown: Callable[[float], str]) -> str:
    if order is None:
        return UNKNOWN
    return f"O({order.formula.replace('log_k', 'log<sub>k</sub>')}) <small>{shown(order.value)}</small>"


def _attention(comparison: Comparison, colours: dict[str, str]) -> str:
    found = {name: picture for name in comparison.ranking if (picture := comparison.results[name].picture) is not None}
    blind = [name for name in comparison.ranking if name not in found]
    if not found:
        return missing("None of these models has attention.")
    note = "Measured on the reference: rows are the target tokens written, columns the source tokens attended to; "
    note += "mean of the heads of each model's sharpest layer."
    rest = f" {', '.join(blind)}: no attention to draw." if blind else ""
    drawn = "".join(_picture(name, picture, colours) for name, picture in found.items())
    return f'<p class="note">{escape(note + rest)}</p><div class="maps">{drawn}</div>'


def _picture(name: str, picture: Picture, colours: Mapping[str, str]) -> str:
    which = f"layer {picture.layer} of {picture.layers}" if picture.layers > 1 else "its one attention"
    rows, columns = ([shown(token) for token in side] for side in (picture.rows, picture.columns))
    drawn = draw_map(picture.weights, rows, columns, f"attention of {name}", CELL)
    return (
        f'<figure class="attends"><figcaption>{_named(name, colours)} <span>{which}</span></figcaption>{drawn}</figure>'
    )


def _example(example: Example, comparison: Comparison, colours: dict[str, str]) -> str:
    options = comparison.options
    sentence_metric = METRICS[SENTENCE_METRIC].title
    said = []
    for name in comparison.ranking:
        text = marked(example.translations[name], example.reference, options.target)[0]
        said.append(
            f'<dt class="name {colours[name]}">{escape(name)}</dt><dd class="score">{example.scores[name]:.0f}</dd>'
            f'<dd class="answer" dir="auto" lang="{escape(options.target)}">{text or "<i>nothing</i>"}</dd>'
        )
    return (
        '<article class="answers">'
        f'<p class="source" dir="auto" lang="{escape(options.source)}">{escape(example.source)}</p>'
        f'<p class="reference" dir="auto" lang="{escape(options.target)}">{escape(example.reference)} '
        f"<small>(reference; {example.length} source subwords; numbers are {sentence_metric})</small></p>"
        f"<dl>{''.join(said)}</dl></article>"
    )


def _recipes(plan: ComparisonPlan, colours: Mapping[str, str]) -> str:
    rows = [[_named(name, colours), _shape(recipe), *_training(recipe)] for name, recipe in plan.recipes.items()]
    shared = next(iter(plan.recipes.values()))
    size = f"{shared.subwords.size:,} {'shared ' if shared.subwords.joint else ''}subwords ({shared.subwords.kind})"
    options = plan.options
    words = ["tongsa lab compare", *options.corpora, "--from", options.source, "--to", options.target]
    for option, values in (("--valid", options.valid), ("--test", options.test)):
        words += [word for value in values for word in (option, value)]
    words += ["--models", ",".join(plan.recipes)]
    words += ["--minutes", f"{options.minutes:g}"] if options.minutes else []
    words += ["--updates", str(options.updates)] if options.updates else []
    words += ["--match-parameters"] if plan.parameters else []
    words += [word for key, value in options.settings.items() for word in ("--set", f"{key}={value}")]
    words += ["--seeds", str(options.seeds)] if options.seeds > 1 else []
    words += [
        "--metric",
        ",".join(options.metrics),
        "--seed",
        str(options.seed),
        "--threads",
        str(options.threads),
        "--out",
        "DIR",
    ]
    return (
        f'<div class="wide-table texts">{table(["model", "shape", *TRAINING], rows)}</div>'
        f'<p class="note">Shared: {escape(size)}, beam {shared.decoding.beam}, length penalty '
        f"{shared.decoding.length_penalty:g}, Adam.</p>"
        f'<pre class="command"><code>{escape(" ".join(words))}</code></pre>'
    )


def _shape(recipe: Recipe) -> str:
    """What differs from the architecture's defaults, and its width."""
    section = recipe.model
    base = type(section)()
    keys = [
        field.name
        for field in dataclasses.fields(section)
        if field.name in ("d_model", "dropout") or getattr(section, field.name) != getattr(base, field.name)
    ]
    return escape(", ".join(f"{key} {getattr(section, key)}" for key in keys if key != "architecture"))


def _training(recipe: Recipe) -> list[str]:
    values = [getattr(recipe.training, key) for key in TRAINING]
    return [escape(number(value) if isinstance(value, int | float) else value) for value in values]
