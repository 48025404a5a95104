"""The curves of a training, whatever its task: loss, scores of the validations, learning rate, gradients, speed."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tongsa.evaluation.contracts import Metric, TextMetric
from tongsa.evaluation.metrics import named
from tongsa.pages.charts import Line, LineChart, draw_lines, short
from tongsa.pages.markup import duration, escape, missing, number, table
from tongsa.pages.record import Event, TrainingRecord, finite

POINTS = 240
"""Maximum number of points in a curve: a screen shows no more."""
VALIDATIONS = 200
"""Number of validations shown in the table: the last ones."""
LOSSES = ("log_loss", "perplexity")
"""Metrics that share the chart of the loss."""


@dataclass(frozen=True)
class Point:
    update: float
    seconds: float
    value: float


def points(events: Sequence[Event], key: str) -> list[Point]:
    found = [(finite(event, "update"), finite(event, "seconds"), finite(event, key)) for event in events]
    return [Point(u, s, v) for u, s, v in found if u is not None and s is not None and v is not None]


def thinned(curve: Sequence[Point], most: int = POINTS) -> list[Point]:
    """The curve reduced to at most `most` points, each the mean of its neighbours; a short curve is unchanged."""
    if len(curve) <= most:
        return list(curve)
    edges = [round(i * len(curve) / most) for i in range(most + 1)]
    groups = [curve[a:b] for a, b in itertools.pairwise(edges)]
    return [Point(g[-1].update, g[-1].seconds, sum(p.value for p in g) / len(g)) for g in groups]


def smoothed(curve: Sequence[Point], reach: int) -> list[Point]:
    """Each point as the mean of those within `reach` on both sides (fewer near the ends), so that it does not lag."""
    sums = [0.0, *itertools.accumulate(point.value for point in curve)]
    result = []
    for i, point in enumerate(curve):
        side = min(reach, i, len(curve) - 1 - i)
        mean = (sums[i + side + 1] - sums[i - side]) / (2 * side + 1)
        result.append(Point(point.update, point.seconds, mean))
    return result


def speeds(events: Sequence[Event], groups: int = 60) -> list[Point]:
    """Target tokens a second between updates some way apart, so that a validation does not count as one slow step."""
    counted = points(events, "target_tokens")
    stride = max(1, len(counted) // groups)
    chosen = counted[::stride]
    return [
        Point(b.update, b.seconds, (b.value - a.value) / (b.seconds - a.seconds))
        for a, b in itertools.pairwise(chosen)
        if b.seconds > a.seconds and b.value >= a.value
    ]


def seconds_at(clock: Sequence[Point], update: float) -> float:
    """Seconds at an update, interpolated between the events around it."""
    place = bisect.bisect_left(clock, update, key=lambda point: point.update)
    if place >= len(clock):
        return clock[-1].seconds
    after = clock[place]
    before = clock[place - 1] if place else Point(0, 0, 0)
    if after.update <= before.update:
        return after.seconds
    share = (update - before.update) / (after.update - before.update)
    return before.seconds + share * (after.seconds - before.seconds)


def draw_curves(record: TrainingRecord) -> str:
    """All curves in the log, and the validations as a table."""
    charts = training_charts(record)
    if not charts:
        return missing("There are no curves: log.jsonl is missing or has no updates.")
    absent = [] if record.validations else [missing("The log has no validation yet.")]
    skipped = sum(1 for update in record.updates if update.get("skipped"))
    if skipped:
        absent.append(missing(f"Updates skipped because their gradient was not finite: {skipped:,}."))
    figures = "".join(draw_lines(chart) for chart in charts)
    return f'<div class="charts">{figures}</div>{"".join(absent)}{_validation_table(record)}'


def training_charts(record: TrainingRecord) -> list[LineChart]:
    clock = thinned(points(record.updates or record.validations, "seconds"), 2000)
    found = [*_loss(record, clock)]
    found += [
        _scores(metric, curve, clock)
        for metric in named(key for event in record.validations for key in event)
        if metric.name not in LOSSES and (curve := points(record.validations, metric.name))
    ]
    training = record.card.recipe.training
    rate = thinned(points(record.updates, "rate"))
    schedule = f"{training.schedule}, warm-up {training.warmup:,}"
    found += [_small("Learning rate", schedule, "rate", rate, clock)] if rate else []
    norm = [p for p in thinned(points(record.updates, "gradient_norm")) if p.value > 0]
    clipping = "before clipping" if training.clip else "no clipping"
    found += [_small("Gradient norm", clipping, "norm", norm, clock)] if norm else []
    speed = speeds(record.updates)
    found += [_small("Speed", "target tokens a second", "tokens/s", speed, clock)] if speed else []
    return found


def _chart(title: str, note: str, lines: Sequence[Line], clock: Sequence[Point], **options: Any) -> LineChart:
    """A chart over the updates, with the time below them."""
    last = max([x for line in lines for x, _ in line.points] + [point.update for point in clock[-1:]])
    return LineChart(
        title=title,
        note=note,
        lines=lines,
        under="updates",
        tell=lambda update: f"update {number(update)} · {duration(seconds_at(clock, update))}",
        across=(0, last),
        second_row=lambda update: duration(seconds_at(clock, update)),
        **options,
    )


def _places(curve: Sequence[Point]) -> list[tuple[float, float]]:
    return [(point.update, point.value) for point in curve]


def _loss(record: TrainingRecord, clock: Sequence[Point]) -> list[LineChart]:
    loss, checked = points(record.updates, "log_loss"), thinned(points(record.validations, "log_loss"))
    if not loss and not checked:
        return []
    lines = [
        Line("", "raw", _places(thinned(loss)) if len(loss) > 1 else []),
        Line("training", "train", _places(thinned(smoothed(loss, len(loss) // 60)))),
        Line("validation", "valid", _places(checked), marks=True),
    ]
    return [
        _chart(
            "Loss",
            "cross-entropy, nats a token",
            lines,
            clock,
            right=lambda value: short(float(f"{math.exp(min(value, 60)):.3g}")),
            right_name="perplexity",
        )
    ]


def _scores(metric: Metric, scores: Sequence[Point], clock: Sequence[Point]) -> LineChart:
    best = (max if metric.higher_is_better else min)(scores, key=lambda p: p.value)
    how = ", greedy" if isinstance(metric, TextMetric) else ""
    note = f"on the validation set{how}; best {metric.format(best.value)} at update {number(best.update)}"
    title = metric.title[:1].upper() + metric.title[1:]
    line = Line(metric.title, "valid", _places(thinned(scores)), marks=True)
    return _chart(title, note, [line], clock, from_zero=True)


def _small(title: str, note: str, name: str, curve: Sequence[Point], clock: Sequence[Point]) -> LineChart:
    """A small chart (a third of a row); logarithmic if the values differ by orders of magnitude."""
    values = [point.value for point in curve]
    spread = min(values) > 0 and max(values) / min(values) > 20 and name == "norm"
    line = Line(name, "third", _places(curve))
    return _chart(title, note, [line], clock, wide=False, from_zero=not spread, logarithmic=spread)


def _validation_table(record: TrainingRecord) -> str:
    if not record.validations:
        return ""
    metrics = named(key for event in record.validations for key in event)
    rows = []
    for event in record.validations[-VALIDATIONS:]:
        values = [(metric, finite(event, metric.name)) for metric in metrics]
        cells = [number(event["update"]), f"{event['seconds'] / 60:,.1f}"]
        rows.append(cells + ["–" if value is None else metric.format(value) for metric, value in values])
    heads = ["update", "minutes", *(escape(metric.title) for metric in metrics)]
    return f"<details><summary>All validations as a table</summary>{table(heads, rows, 'numbers')}</details>"
