"""Charts as SVG: lines, bars, histograms. They need no library, no network and no script; with the script of the kit,
values are shown under the pointer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tongsa.pages.markup import data, escape, number

LEFT, TOP, BOTTOM = 46, 12, 42
"""Room for the ticks and the labels of a chart, in the SVG's units."""
FEW = 10
"""Groups with fewer items than this are drawn faintly, since their values are unreliable."""
MARKED = 60
"""A line of at most this many points can have a mark at each point."""


def _alike(low: float, high: float) -> bool:
    """Whether two values are too close for labels to distinguish."""
    return not high - low > 1e-9 * max(abs(low), abs(high))


def round_ticks(low: float, high: float, about: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten within [low, high]; `about` how many."""
    if _alike(low, high):
        return [low]
    rough = (high - low) / max(1, about)
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((multiple * power for multiple in (1, 2, 5, 10)), key=lambda size: abs(math.log(size / rough)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{place * step:.15g}") for place in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten; only the powers if they are enough."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for multiples in ((1,), (1, 3), (1, 2, 5)):
        ticks = [
            float(f"{m}e{power}")
            for power in powers
            for m in multiples
            if low * 0.999 <= m * 10.0**power <= high * 1.001
        ]
        if len(ticks) >= 3:
            return ticks
    return round_ticks(low, high, 4)


@dataclass(frozen=True)
class Axis:
    """Maps values from low to high to coordinates from one place to another."""

    low: float
    high: float
    begin: float
    end: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(max(value, low))
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.begin + (self.end - self.begin) * min(1.0, max(0.0, share)), 1)

    def ticks(self, about: int) -> list[float]:
        return log_ticks(self.low, self.high) if self.logarithmic else round_ticks(self.low, self.high, about)


def padded(values: list[float], about: int = 5, *, from_zero: bool = False) -> tuple[float, float]:
    """Round bounds that enclose the values."""
    low, high = (0.0 if from_zero else min(values)), max(values)
    if _alike(low, high):
        room = max(1.0, abs(high))
        low, high = (0.0 if from_zero else low - room), high + room
    ticks = round_ticks(low, high, about)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else (high - low)
    return (0.0 if from_zero else math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step)


def short(value: float) -> str:
    """A short label for a tick: 20k, 1.5M, 0.003."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            unit = 1e3 if letter == "k" else size
            return f"{value / unit:.4g}{letter}"
    return number(value)


@dataclass(frozen=True)
class Line:
    """Points (x, y); `kind` is the CSS class of the colour; a line without a name is not in the legend."""

    name: str
    kind: str
    points: Sequence[tuple[float, float]]
    marks: bool = False
    """Draw a mark at each point."""


@dataclass(frozen=True, kw_only=True)
class LineChart:
    title: str
    note: str
    lines: Sequence[Line]
    under: str
    """Label of the horizontal axis."""
    tell: Callable[[float], str]
    """Formats a place on the horizontal axis for the pointer: `update 400 · 3 min`."""
    wide: bool = True
    across: tuple[float, float] | None = None
    """Ends of the horizontal axis; round numbers around the points by default."""
    second_row: Callable[[float], str] | None = None
    """A second label below each horizontal tick, such as the time below the update."""
    from_zero: bool = False
    """The vertical axis begins at 0."""
    logarithmic: bool = False
    """The vertical axis is logarithmic; `across_logarithmic`, the horizontal one."""
    across_logarithmic: bool = False
    right: Callable[[float], str] | None = None
    """Labels of the vertical ticks on a second scale, whose name is `right_name`."""
    right_name: str = ""


def draw_lines(chart: LineChart) -> str:
    """A figure, or nothing where no line has a point."""
    lines = [line for line in chart.lines if line.points]
    if not lines:
        return ""
    width, height = (470, 270) if chart.wide else (330, 200)
    xs, ys = ([point[i] for line in lines for point in line.points] for i in (0, 1))
    end = width - (46 if chart.right else 14)
    if chart.across_logarithmic:
        across = Axis(min(xs) * 0.8, max(xs) * 1.25, LEFT, end, logarithmic=True)
    else:
        across = Axis(*(chart.across or padded(xs)), LEFT, end)
    if chart.logarithmic:
        up = Axis(min(ys) * 0.9, max(ys) * 1.1, height - BOTTOM, TOP, logarithmic=True)
    else:
        up = Axis(*padded(ys, from_zero=chart.from_zero), height - BOTTOM, TOP)
    body = [_grid(up, across), _across(chart, across, up.begin), *(_line(line, chart, across, up) for line in lines)]
    if chart.right:
        body.append(_right(chart, across, up))
    named = [line for line in lines if line.name]
    keys = [(line.kind, line.name) for line in named] if len(named) > 1 else []
    hover = [{"name": line.name, "kind": line.kind, "points": _hover(line, chart, across, up)} for line in named]
    cursor = f'<g class="cursor" data-top="{TOP}" data-bottom="{up.begin}"></g>'
    return _figure(chart.title, chart.note, keys, (width, height), [*body, cursor], data(hover), wide=chart.wide)


def _few(ticks: list[float], most: int = 8) -> list[float]:
    """Thin out the ticks if there are too many powers of ten."""
    return ticks[:: -(-len(ticks) // most)] if ticks else []


def _grid(up: Axis, across: Axis) -> str:
    return "".join(
        f'<path class="grid" d="M{across.begin:g} {up.at(value)}H{across.end:g}"/>'
        + _text("tick", across.begin - 6, up.at(value) + 3.5, short(value), "end")
        for value in _few(up.ticks(5))
    )


def _across(chart: LineChart, across: Axis, bottom: float) -> str:
    parts = []
    for value in _few(across.ticks(5 if chart.wide else 4)):
        x = across.at(value)
        parts.append(f'<path class="grid" d="M{x} {bottom:g}v4"/>{_text("tick", x, bottom + 17, short(value))}')
        if chart.second_row and value:
            parts.append(_text("tick faint", x, bottom + 31, chart.second_row(value)))
    middle = across.begin if chart.second_row else (across.begin + across.end) / 2
    return "".join([*parts, _text("tick faint", middle, bottom + (31 if chart.second_row else 34), chart.under)])


def _right(chart: LineChart, across: Axis, up: Axis) -> str:
    assert chart.right, "drawn for a chart that has a second scale"
    ticks = "".join(
        _text("tick", across.end + 6, up.at(value) + 3.5, chart.right(value), "start") for value in _few(up.ticks(5))
    )
    x, y = across.end + 40, (up.begin + up.end) / 2
    return (
        f'{ticks}<text class="tick name" transform="rotate(90 {x:g} {y:g})" x="{x:g}" y="{y:g}" text-anchor="middle">'
        f"{escape(chart.right_name)}</text>"
    )


def _line(line: Line, chart: LineChart, across: Axis, up: Axis) -> str:
    places = [(across.at(x), up.at(y)) for x, y in line.points]
    path = "M" + "L".join(f"{x:g} {y:g}" for x, y in places)
    alone = len(places) == 1
    drawn = "" if alone else f'<path class="line {line.kind}" d="{path}"/>'
    if (line.marks and len(places) <= MARKED) or alone:
        name = f"{line.name} " if line.name else ""
        drawn += "".join(
            f'<circle class="mark {line.kind}" cx="{x:g}" cy="{y:g}" r="{5 if alone else 2.6}">'
            f"<title>{escape(f'{name}{number(value)} · {chart.tell(place)}')}</title></circle>"
            for (x, y), (place, value) in zip(places, line.points, strict=True)
        )
    return drawn


def _hover(line: Line, chart: LineChart, across: Axis, up: Axis) -> list[list[float | str]]:
    return [[across.at(x), up.at(y), chart.tell(x), number(y)] for x, y in line.points]


@dataclass(frozen=True)
class Group:
    """Bars that stand together: a value for each name of the chart."""

    label: str
    values: Sequence[float]
    count: int | None = None
    """Number of items behind the values; None hides it."""


@dataclass(frozen=True, kw_only=True)
class BarChart:
    title: str
    note: str
    names: Sequence[str]
    """One for each value of a group, with the CSS classes `bar0`, `bar1`."""
    groups: Sequence[Group]
    under: str
    """Label below the chart."""
    top: float | None = 100
    """Upper end of the vertical axis; None takes a round number above the values."""
    unit: str = ""
    """Unit after a value under the pointer: `%`."""


def draw_bars(chart: BarChart) -> str:
    highest = max((value for group in chart.groups for value in group.values), default=0.0)
    up = _bar_axis(chart.top or padded([highest], from_zero=True)[1])
    across = Axis(0, max(1, len(chart.groups)), LEFT, 456)
    parts = [_group(group, across.at(i), across.at(i + 1), up, chart) for i, group in enumerate(chart.groups)]
    keys = [(f"bar{i}", name) for i, name in enumerate(chart.names)] if len(chart.names) > 1 else []
    return _bar_figure(chart.title, chart.note, keys, up, parts, chart.under)


def _group(group: Group, left: float, right: float, up: Axis, chart: BarChart) -> str:
    gap = min(14.0, (right - left) * 0.16)
    each = (right - left - gap) / len(group.values)
    faint = " few" if group.count is not None and group.count < FEW else ""
    counted = "" if group.count is None else f" · {group.count:,} sentences"
    parts = []
    for i, value in enumerate(group.values):
        x = left + gap / 2 + i * each
        tip = f"{chart.names[i]} {value:.1f}{chart.unit} · {group.label}{counted}"
        parts.append(_bar(f"bar{i}{faint}", x, x + each - 1.5, value, up, tip))
        if each >= 20:
            parts.append(_text("value", x + each / 2, up.at(value) - 4, f"{value:.0f}"))
    middle = (left + right) / 2
    parts.append(_text("tick", middle, up.begin + 15, group.label))
    if group.count is not None:
        parts.append(_text("tick faint", middle, up.begin + 28, f"n {group.count:,}"))
    return "".join(parts)


def draw_histogram(
    values: Sequence[float], title: str, note: str, under: str, bounds: tuple[float, float] | None = None
) -> str:
    """A histogram with round bounds; `bounds` are the ends of the scale, if known."""
    low, high = bounds or padded(list(values))
    ticks = round_ticks(low, high, 24)
    step = ticks[1] - ticks[0]
    counts = [0] * max(1, round((high - low) / step))
    for value in values:
        counts[min(len(counts) - 1, max(0, int((value - low) / step + 1e-9)))] += 1
    across, up = Axis(low, high, LEFT, 456), _bar_axis(padded([float(max(counts))], from_zero=True)[1])
    parts = []
    for i, count in enumerate(counts):
        begin, end = low + i * step, low + (i + 1) * step
        tip = f"{count:,} between {number(round(begin, 9))} and {number(round(end, 9))}"
        parts.append(_bar("bar0", across.at(begin), across.at(end) - 1, count, up, tip))
    parts += [_text("tick", across.at(value), up.begin + 15, short(value)) for value in round_ticks(low, high, 6)]
    return _bar_figure(title, note, [], up, parts, under)


def _bar_axis(top: float) -> Axis:
    return Axis(0, top, 204, 16)


def _bar(kind: str, left: float, right: float, value: float, up: Axis, tip: str) -> str:
    y, said = up.at(value), escape(tip)
    return (
        f'<rect class="{kind}" x="{left:.1f}" y="{y}" width="{max(0.5, right - left):.1f}" '
        f'height="{max(0.0, up.begin - y):.1f}" rx="1.5" data-tip="{said}"><title>{said}</title></rect>'
    )


def _bar_figure(
    title: str, note: str, keys: Sequence[tuple[str, str]], up: Axis, parts: Sequence[str], under: str
) -> str:
    width, height = 470, 250
    grid = "".join(
        f'<path class="grid" d="M{LEFT} {up.at(value)}H456"/>'
        + _text("tick", LEFT - 6, up.at(value) + 3.5, short(value), "end")
        for value in round_ticks(0, up.high, 5)
        if value.is_integer() or up.high < 3
    )
    foot = _text("tick faint", (LEFT + 456) / 2, height - 3, under)
    return _figure(title, note, keys, (width, height), [grid, *parts, foot])


def _text(kind: str, x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _figure(
    title: str,
    note: str,
    keys: Sequence[tuple[str, str]],
    size: tuple[int, int],
    parts: Sequence[str],
    after: str = "",
    *,
    wide: bool = True,
) -> str:
    legend = "".join(f'<span class="key {kind}">{escape(name)}</span>' for kind, name in keys)
    label = escape(f"{title}: {note}" if note else title)
    return (
        f'<figure class="chart{" wide" if wide else ""}"><figcaption><b>{escape(title)}</b> '
        f'<span>{escape(note)}</span><span class="keys{" many" if len(keys) > 2 else ""}">{legend}</span></figcaption>'
        f'<svg viewBox="0 0 {size[0]} {size[1]}" role="img" aria-label="{label}">{"".join(parts)}</svg>{after}</figure>'
    )
