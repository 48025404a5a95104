"""comparison.html: one self-contained page in the look of a run's report."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path

import tongsa
from tongsa.evaluation.metrics import METRICS, SENTENCE_METRIC
from tongsa.evaluation.significance import TestedScore
from tongsa.lab.compare import lines, pictures, verdict
from tongsa.lab.compare.complexity import UNKNOWN, Order
from tongsa.lab.compare.lines import Chart, Line
from tongsa.lab.compare.recipes import recipes_table
from tongsa.lab.compare.table import SURE, chance, cores, scientific, with_interval
from tongsa.lab.compare.verdict import Comparison, Example
from tongsa.pages.examples import marked
from tongsa.pages.headline import language
from tongsa.pages.markup import count, escape, missing, table
from tongsa.pages.report import document

SECTIONS = {
    "scores": "Scores",
    "figures": "Figures",
    "table1": "Table 1",
    "attention": "Attention",
    "examples": "Examples",
    "recipes": "Recipes",
}


def page(comparison: Comparison) -> str:
    plan = comparison.plan
    colours = {name: f"m{i % 9}" for i, name in enumerate(comparison.results)}
    style = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
    body = [
        f"<style>{style}</style>",
        "<nav>" + "".join(f'<a href="#{key}">{name}</a>' for key, name in SECTIONS.items()) + "</nav>",
        _headline(comparison),
        _section("scores", "Scores", "", _scores(comparison, colours)),
        _section("figures", "Figures", "", _figures(comparison, colours)),
        _section("table1", "Table 1", "of the paper, with the numbers of these models", _table1(comparison, colours)),
        _section("attention", "Attention", "", _attention(comparison, colours)),
        _section("examples", "Examples", "chosen by their length alone", _examples(comparison, colours)),
        _section("recipes", "Recipes", "what is each model's own", recipes_table(plan, colours)),
        f"<footer>Written by tongsa {escape(tongsa.__version__)} on {escape(platform.machine())}, "
        f"python {escape(platform.python_version())}.</footer>",
    ]
    return document(f"{language(plan.source)} → {language(plan.target)}: {len(colours)} models", "".join(body))


def _section(key: str, title: str, note: str, content: str) -> str:
    aside = f' <span class="aside">{note}</span>' if note else ""
    return f'<section id="{key}"><h2>{title}{aside}</h2>{content}</section>'


def _headline(comparison: Comparison) -> str:
    plan = comparison.plan
    title = f"{escape(language(plan.source))} <i>→</i> {escape(language(plan.target))}"
    tested = escape(", ".join(plan.test) or "the validation set")
    return (
        '<header><div class="seal" lang="ko" title="통사, the interpreters of the Joseon court">'
        "<span>통</span><span>사</span></div><div>"
        f'<p class="over">a comparison of {len(comparison.results)} models</p><h1>{title}</h1>'
        f'<p class="model">{escape(plan.budget)} on {cores(plan.threads)}, the same subwords and ids for all; tested '
        f"on {comparison.sentences:,} sentences of {tested}.</p></div></header>"
    )


def _scores(comparison: Comparison, colours: dict[str, str]) -> str:
    metrics = [METRICS[name] for name in verdict.METRICS]
    head = ["model", *(text for metric in metrics for text in (escape(metric.title), "p"))]
    head += ["parameters", "updates", "tokens/s", "training FLOPs", "sentences/s"]
    best = comparison.scores[comparison.best][metrics[0].name].score
    rows = []
    for name in comparison.ranking:
        result, scores = comparison.results[name], comparison.scores[name]
        reached = scores[metrics[0].name].score
        share = 100 * (reached / best if metrics[0].higher_is_better else best / reached) if reached and best else 0
        meter = f'<i class="meter {colours[name]}" style="width:{share:.1f}%"></i>'
        tested = [
            cell for metric in metrics for cell in (_with_interval(scores[metric.name]), _chance(scores[metric.name]))
        ]
        rows.append(
            [
                f'<span class="name {colours[name]}">{escape(name)}</span>',
                tested[0] + meter,
                *tested[1:],
                count(result.parameters),
                f"{result.updates:,}",
                f"{result.tokens_per_second:,.0f}",
                _power(result.training_flops),
                f"{result.sentences_per_second:,.1f}",
            ]
        )
    decoding = next(iter(comparison.plan.recipes.values())).decoding
    notes = (
        f"± is the 95% interval. p is that of a paired bootstrap of 1,000 draws against {comparison.best}; "
        f"below {SURE} the difference is called significant. Validations are paid from a budget of minutes; "
        "tokens/s, the target tokens of training, are counted between them. "
        "FLOPs: matrix products and convolutions of training, forward and back, counted by torch on chunks of the "
        f"corpus. sentences/s: beam {decoding.beam}, PyTorch for every model, as CTranslate2 has only the Transformer. "
        + " ".join(comparison.scores[comparison.best][metric.name].signature for metric in metrics)
    )
    failed = "".join(missing(f"{name} failed: {why}") for name, why in comparison.failed.items())
    return f'<div class="wide-table">{table(head, rows)}</div><p class="note">{escape(notes)}</p>{failed}'


def _with_interval(tested: TestedScore) -> str:
    score, interval = with_interval(tested).split(" ", 1)
    return f"<b>{score}</b> <small>{interval}</small>"


def _chance(tested: TestedScore) -> str:
    sure = tested.p is not None and tested.p < SURE
    return f"<span{' class=sure' if sure else ''}>{escape(chance(tested).removesuffix('*'))}</span>"


def _power(value: float) -> str:
    mantissa, exponent = scientific(value).split("e")
    return f"{mantissa}·10<sup>{exponent}</sup>"


def _figures(comparison: Comparison, colours: dict[str, str]) -> str:
    def of_each(points: dict[str, list[tuple[float, float]]]) -> list[Line]:
        return [Line(name, colours[name], points[name]) for name in comparison.ranking]

    results = comparison.results
    metric = METRICS[verdict.METRICS[0]]
    lengths = {name: [(b.mean, b.scores[name]) for b in comparison.lengths] for name in results}
    reach = {name: [(d, value) for d, value in result.reach] for name, result in results.items()}
    curves = {name: [(t, score) for t, score in result.curves.get(metric.name, [])] for name, result in results.items()}
    speed = {
        name: [(result.sentences_per_second, comparison.scores[name][metric.name].score)]
        for name, result in results.items()
    }
    charts = [
        Chart(
            title=f"{metric.title} by source length",
            note="on the test set, the same sentences for all",
            under="subwords of the source, mean of each group",
            unit="length",
            lines=of_each(lengths),
        ),
        Chart(
            title="What arrives of the first source token",
            note="relative change of a target feature for one of the first embedding",
            under="positions from the first source token to the target token",
            unit="distance",
            lines=of_each(reach),
            logarithmic=True,
        ),
        Chart(
            title=f"{metric.title} while training",
            note="on the validation set, greedy",
            under="minutes",
            unit="minute",
            lines=of_each(curves),
        ),
        Chart(
            title="Quality and speed",
            note=f"{metric.title} on the test set, beam search on the native engine",
            under="sentences a second",
            unit="sentences/s",
            lines=of_each(speed),
            across_logarithmic=True,
        ),
    ]
    return f'<div class="charts">{"".join(lines.draw(chart) for chart in charts)}</div>{_REACH_NOTE}'


_REACH_NOTE = (
    '<p class="note">What arrives: with x the embedding of the first source token, f the feature that step t is '
    "predicted from and J = ∂f/∂x, it is ‖J‖<sub>F</sub>/√d<sub>x</sub> · ‖x‖/‖f‖, measured by automatic "
    "differentiation on references of the test set, as a geometric mean. The distance is n + t, the positions that a "
    "recurrent network carries the signal through; a decoder that attends, or an encoder that also reads backwards, "
    "has a shorter way. A trained decoder that attends looks less at the first token later in the sentence because "
    "it need not, so its line falls too.</p>"
)


def _table1(comparison: Comparison, colours: dict[str, str]) -> str:
    head = ["model", "layer type", "complexity per layer", "sequential operations", "maximum path length"]
    head += ["source to target", "layers", "d", "k", "encoder sees"]
    rows = []
    for row in comparison.table1:
        rows.append(
            [
                f'<span class="name {colours[row.name]}">{escape(row.name)}</span>',
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
        "own. Beside a formula stands what it gives for these numbers: an order, without the constants that the "
        "formula leaves out. Source to target is the way between a source position and a target position. What an "
        "encoder sees is exact: the source positions that one of its outputs depends on."
    )
    return f'<div class="wide-table formulas">{table(head, rows)}</div><p class="note">{escape(note)}</p>'


def _order(order: Order | None, shown: Callable[[float], str]) -> str:
    if order is None:
        return UNKNOWN
    return f"O({order.formula.replace('log_k', 'log<sub>k</sub>')}) <small>{shown(order.value)}</small>"


def _attention(comparison: Comparison, colours: dict[str, str]) -> str:
    found = {name: picture for name in comparison.ranking if (picture := comparison.results[name].picture) is not None}
    blind = [name for name in comparison.ranking if name not in found]
    if not found:
        return missing("None of these models attends.")
    note = "While the reference is read: rows are the target tokens written, columns the source tokens looked at; "
    note += "the mean of the heads of each model's sharpest layer."
    rest = f" {', '.join(blind)}: no attention to draw." if blind else ""
    return f'<p class="note">{escape(note + rest)}</p>{pictures.draw(found, colours)}'


def _examples(comparison: Comparison, colours: dict[str, str]) -> str:
    return "".join(_example(example, comparison, colours) for example in comparison.examples)


def _example(example: Example, comparison: Comparison, colours: dict[str, str]) -> str:
    plan = comparison.plan
    sentence_metric = METRICS[SENTENCE_METRIC].title
    said = []
    for name in comparison.ranking:
        text = marked(example.translations[name], example.reference, plan.target)[0]
        said.append(
            f'<dt class="name {colours[name]}">{escape(name)}</dt><dd class="score">{example.scores[name]:.0f}</dd>'
            f'<dd class="said" dir="auto" lang="{escape(plan.target)}">{text or "<i>nothing</i>"}</dd>'
        )
    return (
        f'<article class="told"><p class="source" dir="auto" lang="{escape(plan.source)}">{escape(example.source)}</p>'
        f'<p class="reference" dir="auto" lang="{escape(plan.target)}">{escape(example.reference)} '
        f"<small>(reference; {example.length} source subwords; numbers are {sentence_metric})</small></p>"
        f"<dl>{''.join(said)}</dl></article>"
    )
