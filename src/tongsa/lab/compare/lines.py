"""Line charts in which every line is a model, as SVG; the page's script shows values where the pointer is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tongsa.pages.axes import Axis, padded, short
from tongsa.pages.markup import data, escape, number

WIDTH, HEIGHT = 470, 300
LEFT, RIGHT, TOP, BOTTOM = 46, WIDTH - 14, 12, HEIGHT - 42


@dataclass(frozen=True)
class Line:
    """A model's values; `kind` is the CSS class of its colour."""

    name: str
    kind: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class Chart:
    title: str
    note: str
    under: str
    """What the horizontal axis counts."""
    unit: str
    """In front of a value of it where it is told: `length 12`."""
    lines: list[Line]
    logarithmic: bool = False
    """The vertical axis."""
    across_logarithmic: bool = False


def draw(chart: Chart) -> str:
    """A figure, or nothing where no line has a point."""
    lines = [line for line in chart.lines if line.points]
    if not lines:
        return ""
    xs, ys = ([point[i] for line in lines for point in line.points] for i in (0, 1))
    across = _axis(xs, LEFT, RIGHT, logarithmic=chart.across_logarithmic, from_zero=False)
    up = _axis(ys, BOTTOM, TOP, logarithmic=chart.logarithmic, from_zero=True)
    keys = "".join(f'<span class="key {line.kind}">{escape(line.name)}</span>' for line in lines)
    body = "".join([_grid(chart, across, up), *(_line(line, across, up) for line in lines)])
    hover = [{"name": line.name, "kind": line.kind, "points": _hover(line, chart, across, up)} for line in lines]
    return (
        f'<figure class="chart wide"><figcaption><b>{escape(chart.title)}</b> <span>{escape(chart.note)}</span>'
        f'<span class="keys">{keys}</span></figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(f"{chart.title}: {chart.note}")}">{body}'
        f'<g class="cursor" data-top="{TOP}" data-bottom="{BOTTOM}"></g></svg>{data(hover)}</figure>'
    )


def _axis(values: list[float], begin: float, end: float, *, logarithmic: bool, from_zero: bool) -> Axis:
    if logarithmic:
        return Axis(min(values) * 0.8, max(values) * 1.25, begin, end, logarithmic=True)
    return Axis(*padded(values, from_zero=from_zero), begin, end)


def _grid(chart: Chart, across: Axis, up: Axis) -> str:
    parts = []
    for value in _few(up.ticks(5)):
        y = up.at(value)
        parts.append(f'<path class="grid" d="M{LEFT} {y}H{RIGHT}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 6}" y="{y + 3.5}" text-anchor="end">{short(value)}</text>')
    for value in _few(across.ticks(6)):
        x = across.at(value)
        parts.append(f'<path class="grid" d="M{x} {BOTTOM}v4"/>')
        parts.append(f'<text class="tick" x="{x}" y="{BOTTOM + 17}" text-anchor="middle">{short(value)}</text>')
    middle = (LEFT + RIGHT) / 2
    parts.append(
        f'<text class="tick faint" x="{middle}" y="{BOTTOM + 34}" text-anchor="middle">{escape(chart.under)}</text>'
    )
    return "".join(parts)


def _few(ticks: list[float], most: int = 8) -> list[float]:
    """Many powers of ten are too many lines."""
    return ticks[:: -(-len(ticks) // most)]


def _line(line: Line, across: Axis, up: Axis) -> str:
    places = [(across.at(x), up.at(y)) for x, y in line.points]
    path = "M" + "L".join(f"{x:g} {y:g}" for x, y in places)
    alone = len(places) == 1
    drawn = "" if alone else f'<path class="line {line.kind}" d="{path}"/>'
    if len(places) <= 20:
        radius = 5 if alone else 2.6
        drawn += "".join(
            f'<circle class="mark {line.kind}" cx="{x:g}" cy="{y:g}" r="{radius}">'
            f"<title>{escape(line.name)} {number(value)}</title></circle>"
            for (x, y), (_, value) in zip(places, line.points, strict=True)
        )
    return drawn


def _hover(line: Line, chart: Chart, across: Axis, up: Axis) -> list[list[float | str]]:
    return [[across.at(x), up.at(y), f"{chart.unit} {number(round(x, 1))}", number(y)] for x, y in line.points]
