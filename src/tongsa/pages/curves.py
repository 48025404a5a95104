"""Line charts over a training, as SVG of our own: they need no library, no script and no network."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tongsa.evaluation.contracts import Metric
from tongsa.evaluation.metrics import named
from tongsa.pages.axes import Axis, padded, round_ticks, short
from tongsa.pages.markup import data, duration, escape, number
from tongsa.pages.run import Event, Run, finite

POINTS = 240
"""A curve is thinned to so many: a screen shows no more."""


@dataclass(frozen=True)
class Point:
    update: float
    seconds: float
    value: float


@dataclass(frozen=True)
class Line:
    """A curve: `kind` is its CSS class, `marks` draws its points."""

    name: str
    kind: str
    points: list[Point]
    marks: bool = False


@dataclass(frozen=True)
class Chart:
    title: str
    note: str
    lines: list[Line]
    wide: bool = False
    from_zero: bool = False
    logarithmic: bool = False
    right: Callable[[float], str] | None = None
    """What the ticks mean on a second scale."""
    right_name: str = ""


def points(events: Sequence[Event], key: str) -> list[Point]:
    found = [(finite(event, "update"), finite(event, "seconds"), finite(event, key)) for event in events]
    return [Point(u, s, v) for u, s, v in found if u is not None and s is not None and v is not None]


def thinned(curve: Sequence[Point], most: int = POINTS) -> list[Point]:
    """The means of as many neighbouring groups; a short curve as it is."""
    if len(curve) <= most:
        return list(curve)
    edges = [round(i * len(curve) / most) for i in range(most + 1)]
    groups = [curve[a:b] for a, b in itertools.pairwise(edges)]
    return [Point(g[-1].update, g[-1].seconds, sum(p.value for p in g) / len(g)) for g in groups]


def smoothed(curve: Sequence[Point], reach: int) -> list[Point]:
    """Each point as the mean of those within `reach` on both sides, fewer near the ends: it does not lag behind."""
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


def draw(chart: Chart, clock: Sequence[Point]) -> str:
    """A figure; `clock` tells which second belongs to an update."""
    width, height = (470, 270) if chart.wide else (330, 200)
    everything = [point for line in chart.lines for point in line.points]
    right_room = 46 if chart.right else 14
    across = Axis(0, max(p.update for p in (*everything, *clock[-1:])), 46, width - right_room)
    values = [p.value for p in everything]
    if chart.logarithmic:
        up = Axis(min(values) * 0.9, max(values) * 1.1, height - 42, 12, logarithmic=True)
    else:
        up = Axis(*padded(values, from_zero=chart.from_zero), height - 42, 12)
    body = [_grid(chart, across, up, clock), *(_path(line, across, up) for line in chart.lines)]
    named = [line for line in chart.lines if line.name]
    keys = [f'<span class="key {line.kind}">{escape(line.name)}</span>' for line in named]
    legend = "".join(keys) if len(keys) > 1 else ""
    hover = [{"name": line.name, "kind": line.kind, "points": _hover(line, across, up)} for line in named]
    label = escape(f"{chart.title}: {chart.note}")
    return (
        f'<figure class="chart{" wide" if chart.wide else ""}"><figcaption><b>{escape(chart.title)}</b> '
        f'<span>{escape(chart.note)}</span><span class="keys">{legend}</span></figcaption>'
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{"".join(body)}'
        f'<g class="cursor" data-top="12" data-bottom="{height - 42}"></g></svg>{data(hover)}</figure>'
    )


def _grid(chart: Chart, across: Axis, up: Axis, clock: Sequence[Point]) -> str:
    parts = []
    for value in up.ticks(5):
        y = up.at(value)
        parts.append(f'<path class="grid" d="M{across.begin} {y}H{across.end}"/>')
        parts.append(f'<text class="tick" x="{across.begin - 6}" y="{y + 3.5}" text-anchor="end">{short(value)}</text>')
        if chart.right:
            text = escape(chart.right(value))
            parts.append(f'<text class="tick" x="{across.end + 6}" y="{y + 3.5}">{text}</text>')
    if chart.right:
        x, y = across.end + 40, (up.begin + up.end) / 2
        parts.append(
            f'<text class="tick name" transform="rotate(90 {x} {y})" x="{x}" y="{y}" text-anchor="middle">'
            f"{escape(chart.right_name)}</text>"
        )
    for update in round_ticks(0, across.high, 5 if chart.wide else 4):
        x = across.at(update)
        parts.append(f'<path class="grid" d="M{x} {up.begin}v4"/>')
        parts.append(f'<text class="tick" x="{x}" y="{up.begin + 17}" text-anchor="middle">{short(update)}</text>')
        if update and clock:
            elapsed = duration(seconds_at(clock, update))
            parts.append(
                f'<text class="tick faint" x="{x}" y="{up.begin + 31}" text-anchor="middle">{escape(elapsed)}</text>'
            )
    parts.append(f'<text class="tick faint" x="{across.begin}" y="{up.begin + 31}" text-anchor="middle">updates</text>')
    return "".join(parts)


def seconds_at(clock: Sequence[Point], update: float) -> float:
    """Between the two events around an update, as if time ran evenly."""
    place = bisect.bisect_left(clock, update, key=lambda point: point.update)
    if place >= len(clock):
        return clock[-1].seconds
    after = clock[place]
    before = clock[place - 1] if place else Point(0, 0, 0)
    if after.update <= before.update:
        return after.seconds
    share = (update - before.update) / (after.update - before.update)
    return before.seconds + share * (after.seconds - before.seconds)


def _path(line: Line, across: Axis, up: Axis) -> str:
    places = [(across.at(p.update), up.at(p.value)) for p in line.points]
    path = "M" + "L".join(f"{x:g} {y:g}" for x, y in places)
    drawn = f'<path class="line {line.kind}" d="{path}"/>' if len(places) > 1 else ""
    if line.marks or len(places) == 1:
        drawn += "".join(
            f'<circle class="mark {line.kind}" cx="{x:g}" cy="{y:g}" r="{2.6 if len(places) > 1 else 4}">'
            f"<title>update {number(p.update)}: {number(p.value)}</title></circle>"
            for (x, y), p in zip(places, line.points, strict=True)
        )
    return drawn


def _hover(line: Line, across: Axis, up: Axis) -> list[list[float | str]]:
    return [
        [across.at(p.update), up.at(p.value), f"update {number(p.update)} · {duration(p.seconds)}", number(p.value)]
        for p in line.points
    ]


def charts(run: Run) -> list[Chart]:
    """The curves that the log has."""
    loss, checked = points(run.updates, "log_loss"), thinned(points(run.validations, "log_loss"))
    raw = thinned(loss)
    soft = thinned(smoothed(loss, len(loss) // 60))
    found = []
    if loss or checked:
        lines = [Line("", "raw", raw)] if len(raw) > 1 else []
        lines += [Line("training", "train", soft)] if soft else []
        lines += [Line("validation", "valid", checked, marks=len(checked) <= 60)] if checked else []
        found.append(
            Chart(
                title="Loss",
                note="cross-entropy, nats a token",
                lines=lines,
                wide=True,
                right=lambda value: short(float(f"{math.exp(min(value, 60)):.3g}")),
                right_name="perplexity",
            )
        )
    found += [_scores(metric, points(run.validations, metric.name)) for metric in _scored(run)]
    rate = thinned(points(run.updates, "rate"))
    if rate:
        found.append(
            Chart(title="Learning rate", note=_schedule(run), lines=[Line("rate", "third", rate)], from_zero=True)
        )
    norm = [p for p in thinned(points(run.updates, "gradient_norm")) if p.value > 0]
    if norm:
        ratio = max(p.value for p in norm) / min(p.value for p in norm)
        lines = [Line("norm", "third", norm)]
        note = "before clipping" if run.card.recipe.training.clip else "no clipping"
        found.append(
            Chart(title="Gradient norm", note=note, lines=lines, from_zero=ratio <= 20, logarithmic=ratio > 20)
        )
    speed = speeds(run.updates)
    if speed:
        lines = [Line("tokens/s", "third", speed)]
        found.append(Chart(title="Speed", note="target tokens a second", lines=lines, from_zero=True))
    return found


def _scored(run: Run) -> list[Metric]:
    """The metrics of the validations that have a chart of their own: the loss and its exponential share one."""
    return [
        metric
        for metric in named(key for event in run.validations for key in event)
        if metric.name not in ("log_loss", "perplexity") and points(run.validations, metric.name)
    ]


def _scores(metric: Metric, scores: list[Point]) -> Chart:
    curve = thinned(scores)
    best = (max if metric.higher_is_better else min)(curve, key=lambda p: p.value)
    note = f"on the validation set; best {metric.format(best.value)} at update {number(best.update)}"
    lines = [Line(metric.title, "valid", curve, marks=len(curve) <= 60)]
    title = metric.title[:1].upper() + metric.title[1:]
    return Chart(title=title, note=note, lines=lines, wide=True, from_zero=True)


def _schedule(run: Run) -> str:
    training = run.card.recipe.training
    return f"{training.schedule}, warm-up {training.warmup:,}"
