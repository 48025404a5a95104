"""report.html: one self-contained page. It loads nothing from outside, and can be read without its script."""

from __future__ import annotations

from pathlib import Path

from tongsa.base.files import write_atomically
from tongsa.evaluation.metrics import named
from tongsa.pages import curves, examples, frame, heatmaps, quality
from tongsa.pages.headline import headline, language
from tongsa.pages.markup import escape, missing, number, table
from tongsa.pages.recipe import cleaning, environment, recipe_tables, reproduce
from tongsa.pages.run import Example, Run, finite
from tongsa.runs.directory import Run as RunDirectory
from tongsa.translation.translator import Translator

SECTIONS = {
    "scores": "Scores",
    "curves": "Curves",
    "quality": "Quality",
    "examples": "Examples",
    "attention": "Attention",
    "recipe": "Recipe",
}


def write_report(directory: Path, translator: Translator) -> Path:
    """Write report.html into a translator directory; parts that the directory lacks are said to be missing."""
    path = RunDirectory(directory).report_file
    write_atomically(path, page(Run.read(directory), translator))
    return path


def page(run: Run, translator: Translator) -> str:
    chrf = quality.sentence_scores(run.examples, run.card.target)
    parameters = sum(parameter.numel() for parameter in translator.native.model.parameters())
    body = [
        _navigation(),
        headline(run, parameters),
        _section("curves", "Curves", "How the training went, by updates and time.", _curves(run)),
        _section("quality", "Quality", "On the validation set.", _quality(run, chrf, translator)),
        _section("examples", "Examples", _EXAMPLES_NOTE if run.examples else "", _examples(run, chrf)),
        _section("attention", "Attention", "", _attention(run, chrf, translator)),
        _section("recipe", "Recipe", "", _recipe(run)),
        f"<footer>Written by tongsa. The translator is the directory <b>{escape(run.name)}</b>.</footer>",
    ]
    return document(f"{language(run.card.source)} → {language(run.card.target)} · {run.name}", "".join(body))


def document(title: str, body: str) -> str:
    whole = f'<main>{body}</main><div id="tip" hidden></div>'
    return frame.document(
        title, whole, style=frame.read("colours.css", "kit.css"), script=frame.read("kit.js"), style_attributes=True
    )


def _navigation() -> str:
    return "<nav>" + "".join(f'<a href="#{key}">{name}</a>' for key, name in SECTIONS.items()) + "</nav>"


def _section(key: str, title: str, note: str, content: str) -> str:
    aside = f' <span class="aside">{note}</span>' if note else ""
    return f'<section id="{key}"><h2>{title}{aside}</h2>{content}</section>'


def _curves(run: Run) -> str:
    charts = curves.charts(run)
    if not charts:
        return missing("There are no curves: log.jsonl is missing or holds no updates.")
    clock = curves.thinned(curves.points(run.updates or run.validations, "seconds"), 2000)
    figures = "".join(curves.draw(chart, clock) for chart in charts)
    absent = [] if run.validations else [missing("The log holds no validation yet.")]
    skipped = sum(1 for update in run.updates if update.get("skipped"))
    if skipped:
        absent.append(missing(f"Updates skipped because their gradient was not finite: {skipped:,}."))
    return f'<div class="charts">{figures}</div>{"".join(absent)}{_validations(run)}'


def _validations(run: Run) -> str:
    if not run.validations:
        return ""
    rows = []
    metrics = named(key for event in run.validations for key in event)
    for event in run.validations[-200:]:
        values = [(metric, finite(event, metric.name)) for metric in metrics]
        cells = [number(event["update"]), f"{event['seconds'] / 60:,.1f}"]
        rows.append(cells + ["–" if value is None else metric.format(value) for metric, value in values])
    heads = ["update", "minutes", *(escape(metric.title) for metric in metrics)]
    return f"<details><summary>All validations as a table</summary>{table(heads, rows, 'numbers')}</details>"


def _quality(run: Run, chrf: list[float], translator: Translator) -> str:
    if not run.examples:
        return missing("validation.jsonl is missing or empty: it is written when a training ends.")
    source = translator.subwords.source
    figures = [quality.by_length(run.examples, lambda text: len(source.encode(text)), run.card.target)]
    figures += quality.distributions(run.examples, chrf)
    return f'<div class="charts">{"".join(figures)}</div>'


_EXAMPLES_NOTE = "<del>Not in the reference</del> <ins>not in the translation</ins>"


def _examples(run: Run, chrf: list[float]) -> str:
    if not run.examples:
        return missing("There are no examples: validation.jsonl is missing or empty.")
    return examples.draw(run.examples, chrf, run.card.source, run.card.target)


def _attention(run: Run, chrf: list[float], translator: Translator) -> str:
    if not run.examples:
        return missing("There are no sentences to look at: validation.jsonl is missing or empty.")
    source = translator.subwords.source
    parts = []
    for place in heatmaps.choose(run.examples, chrf, lambda text: len(source.encode(text))):
        inspection = translator.inspect(run.examples[place].source)
        found = [heatmaps.draw(kind, open_at_once=i == 0) for i, kind in enumerate(heatmaps.kinds(inspection))]
        if found:
            parts.append(f'<div class="sentence">{_pair(run, run.examples[place])}{"".join(found)}</div>')
    if not parts:
        return missing(f"No attention to show: the architecture {run.card.recipe.model.architecture} gives no weights.")
    return f"{_LEGEND}{''.join(parts)}"


def _pair(run: Run, example: Example) -> str:
    return (
        f'<h3 dir="auto" lang="{escape(run.card.source)}">{escape(example.source)}</h3>'
        f'<p dir="auto" lang="{escape(run.card.target)}">{escape(example.translation)}</p>'
    )


_LEGEND = (
    '<p class="note">Choose a layer and a head among the small pictures; the large one shows it with its tokens. '
    "A dot before a token: it goes on the word before it.</p>"
    '<p class="scale"><span>weight 0</span><i></i><span>1</span> <small>(ink grows with the square root, '
    "so that small weights are seen)</small></p>"
)


def _recipe(run: Run) -> str:
    return (
        f"<h3>To train it again</h3>{reproduce(run)}"
        '<h3>All settings <span><i class="dot"></i> differs from the base model of the paper</span></h3>'
        f"{recipe_tables(run)}"
        f'<div class="columns"><div><h3>Corpus</h3>{cleaning(run)}</div>'
        f"<div><h3>Environment</h3>{environment(run)}</div></div>"
    )
