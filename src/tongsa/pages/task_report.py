"""report.html of a training that is not a translation: its scores, curves, examples and recipe."""

from __future__ import annotations

import json
import math
from pathlib import Path

from tongsa.base.files import write_atomically
from tongsa.evaluation.metrics import named
from tongsa.pages import curves, frame
from tongsa.pages.markup import count, duration, escape, missing, table
from tongsa.pages.recipe import environment, recipe_tables
from tongsa.pages.run import Run
from tongsa.runs.directory import Run as RunDirectory

MOST_EXAMPLES = 200


def write_task_report(directory: RunDirectory, title: str) -> Path:
    """Write report.html into a run directory whose training has ended."""
    run = Run.read(directory.path)
    sections = [
        frame.Section(key="scores", title="Scores", content=_scores(run)),
        frame.Section(key="curves", title="Curves", content=_curves(run)),
        frame.Section(key="examples", title="Examples", content=_examples(directory.examples_file)),
        frame.Section(key="recipe", title="Recipe", content=recipe_tables(run)),
        frame.Section(key="environment", title="Environment", content=environment(run)),
    ]
    model = run.card.recipe.model
    heading = frame.heading(
        escape(title), over=escape(run.name), text=f"{escape(model.architecture)}, d = {model.d_model:,}"
    )
    write_atomically(
        directory.report_file, frame.page(f"{title} · {run.name}", heading=heading, sections=sections, footer="Tongsa")
    )
    return directory.report_file


def _scores(run: Run) -> str:
    training = run.card.training
    rows = [
        [escape(metric.title), _number(metric.format, run.card.scores[metric.name].score), escape(metric.meaning)]
        for metric in named(run.card.scores)
    ]
    facts = f"{count(training.updates)} updates, {count(training.target_tokens)} labels, "
    facts += f"{duration(60 * training.minutes)}; weights: {training.weights or 'the best so far'}"
    return f'{table(["metric", "validation", ""], rows)}<p class="note">{escape(facts)}</p>'


def _number(shown: object, value: float) -> str:
    return shown(value) if callable(shown) and math.isfinite(value) else "–"


def _curves(run: Run) -> str:
    charts = curves.charts(run)
    if not charts:
        return missing("There are no curves: log.jsonl is missing or holds no updates.")
    clock = curves.thinned(curves.points(run.updates or run.validations, "seconds"), 2000)
    return f'<div class="charts">{"".join(curves.draw(chart, clock) for chart in charts)}</div>'


def _examples(path: Path) -> str:
    """Whatever the task keeps of each example, a column for each of its names."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()[:MOST_EXAMPLES]
    except OSError:
        lines = []
    entries = [json.loads(line) for line in lines]
    if not entries:
        return missing("There are no examples.")
    names = list(entries[0])
    rows = [[_cell(entry.get(name, "")) for name in names] for entry in entries]
    return table([escape(name) for name in names], rows)


def _cell(value: object) -> str:
    return escape(f"{value:.2f}" if isinstance(value, float) else value)
