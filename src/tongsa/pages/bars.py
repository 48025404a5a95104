"""Bar charts as SVG: scores of groups of sentences, and how often a value occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tongsa.pages.axes import Axis, padded, round_ticks, short
from tongsa.pages.markup import escape, number

WIDTH, HEIGHT = 470, 250
LEFT, RIGHT, TOP, BOTTOM = 40, WIDTH - 8, 16, HEIGHT - 46
FEW = 10
"""A score over fewer sentences says little, and is drawn faint."""


@dataclass(frozen=True)
class Group:
    """The bars over one label; `count` is written beneath."""

    label: str
    count: int
    values: list[float]


@dataclass(frozen=True)
class Bars:
    """Scores from 0 to 100 of groups of sentences."""

    title: str
    note: str
    names: list[str]
    """One for each value of a group, with the CSS classes `bar0`, `bar1`."""
    groups: list[Group]
    under: str
    """What the labels count."""


def draw(bars: Bars) -> str:
    across, up = Axis(0, len(bars.groups), LEFT, RIGHT), Axis(0, 100, BOTTOM, TOP)
    parts = [_group(group, across.at(i), across.at(i + 1), up, bars) for i, group in enumerate(bars.groups)]
    keys = [f'<span class="key bar{i}">{escape(name)}</span>' for i, name in enumerate(bars.names)]
    return _figure(bars.title, bars.note, keys if len(keys) > 1 else [], up, parts, bars.under)


def _group(group: Group, left: float, right: float, up: Axis, bars: Bars) -> str:
    gap = min(14.0, (right - left) * 0.16)
    each = (right - left - gap) / len(group.values)
    faint = " few" if group.count < FEW else ""
    parts = []
    for i, value in enumerate(group.values):
        x = left + gap / 2 + i * each
        tip = f"{bars.names[i]} {value:.1f} · {group.label} · {group.count:,} sentences"
        parts.append(_bar(f"bar{i}{faint}", x, x + each - 1.5, value, up, tip))
        if each >= 20:
            parts.append(_text("value", x + each / 2, up.at(value) - 4, f"{value:.0f}"))
    middle = (left + right) / 2
    parts.append(_text("tick", middle, BOTTOM + 15, group.label))
    parts.append(_text("tick faint", middle, BOTTOM + 28, f"n {group.count:,}"))
    return "".join(parts)


def histogram(
    values: Sequence[float], title: str, note: str, under: str, bounds: tuple[float, float] | None = None
) -> str:
    """How many values fall between round numbers; `bounds` of the scale, where they are known."""
    low, high = bounds or padded(list(values))
    ticks = round_ticks(low, high, 24)
    step = ticks[1] - ticks[0]
    counts = [0] * max(1, round((high - low) / step))
    for value in values:
        counts[min(len(counts) - 1, max(0, int((value - low) / step + 1e-9)))] += 1
    across, up = Axis(low, high, LEFT, RIGHT), Axis(0, padded([float(max(counts))], from_zero=True)[1], BOTTOM, TOP)
    parts = []
    for i, count in enumerate(counts):
        begin, end = low + i * step, low + (i + 1) * step
        tip = f"{count:,} between {number(round(begin, 9))} and {number(round(end, 9))}"
        parts.append(_bar("bar0", across.at(begin), across.at(end) - 1, count, up, tip))
    parts += [_text("tick", across.at(value), BOTTOM + 15, short(value)) for value in round_ticks(low, high, 6)]
    return _figure(title, note, [], up, parts, under)


def _bar(kind: str, left: float, right: float, value: float, up: Axis, tip: str) -> str:
    y = up.at(value)
    said = escape(tip)
    return (
        f'<rect class="{kind}" x="{left:.1f}" y="{y}" width="{max(0.5, right - left):.1f}" '
        f'height="{max(0.0, BOTTOM - y):.1f}" rx="1.5" data-tip="{said}"><title>{said}</title></rect>'
    )


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(text)}</text>'


def _figure(title: str, note: str, keys: list[str], up: Axis, parts: list[str], under: str) -> str:
    grid = "".join(
        f'<path class="grid" d="M{LEFT} {up.at(value)}H{RIGHT}"/>'
        f'<text class="tick" x="{LEFT - 6}" y="{up.at(value) + 3.5}" text-anchor="end">{short(value)}</text>'
        for value in round_ticks(0, up.high, 5)
        if value.is_integer()
    )
    foot = _text("tick faint", (LEFT + RIGHT) / 2, HEIGHT - 3, under)
    return (
        f'<figure class="chart wide"><figcaption><b>{escape(title)}</b> <span>{escape(note)}</span>'
        f'<span class="keys">{"".join(keys)}</span></figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{grid}{''.join(parts)}{foot}</svg></figure>"
    )
