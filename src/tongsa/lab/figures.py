"""Figures of the lab: lines by name, and means with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tongsa.lab.question import Mean
from tongsa.pages.charts import Axis, Line, LineChart, draw_lines, padded, round_ticks, short
from tongsa.pages.markup import escape, number

COLOURS = tuple(f"m{number}" for number in range(9))


def lines(
    title: str,
    under: str,
    values: Mapping[str, Sequence[tuple[float, float]]],
    *,
    note: str = "",
    logarithmic: bool = False,
    across_logarithmic: bool = False,
    from_zero: bool = False,
) -> str:
    """A line for each name, through its points (x, y)."""
    return draw_lines(
        LineChart(
            title=title,
            note=note,
            lines=[
                Line(name, COLOURS[place % len(COLOURS)], list(points), marks=len(points) <= 20)
                for place, (name, points) in enumerate(values.items())
            ],
            under=under,
            tell=lambda x: f"{under} {number(x)}",
            logarithmic=logarithmic,
            across_logarithmic=across_logarithmic,
            from_zero=from_zero,
        )
    )


def intervals(title: str, under: str, values: Mapping[str, Mean], *, note: str = "", digits: int = 2) -> str:
    """A row for each name: its mean as a dot, and its interval as a bar."""
    ends = [end for value in values.values() for end in (value.mean, value.low, value.high) if math.isfinite(end)]
    longest = max(map(_room, values))
    left, width, step = min(200.0, 12 + longest), 470, 26
    across = Axis(*padded(ends), left, width - 64)
    bottom = 8 + step * len(values)
    parts = [
        f'<path class="grid" d="M{across.at(tick)} 6V{bottom}"/>'
        f'<text class="tick" x="{across.at(tick)}" y="{bottom + 15}" text-anchor="middle">{escape(short(tick))}</text>'
        for tick in round_ticks(across.low, across.high, 5)
    ]
    for place, (name, value) in enumerate(values.items()):
        y = 8 + step * (place + 0.5)
        low, high = (across.at(end if math.isfinite(end) else value.mean) for end in (value.low, value.high))
        said = escape(f"{name}: {value.text(digits)}")
        parts.append(
            f'<text class="tick" x="{left - 8}" y="{y + 4}" text-anchor="end">{escape(name)}</text>'
            f'<path class="line m0" d="M{low} {y}H{high}"/>'
            f'<circle class="mark m0" cx="{across.at(value.mean)}" cy="{y}" r="4"><title>{said}</title></circle>'
            f'<text class="value" x="{width - 58}" y="{y + 4}">{escape(f"{value.mean:.{digits}f}")}</text>'
        )
    parts.append(
        f'<text class="tick faint" x="{(left + width - 64) / 2}" y="{bottom + 31}" text-anchor="middle">'
        f"{escape(under)}</text>"
    )
    return (
        f'<figure class="chart wide"><figcaption><b>{escape(title)}</b> <span>{escape(note)}</span></figcaption>'
        f'<svg viewBox="0 0 {width} {bottom + 36}" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'
        "</figure>"
    )


def _room(name: str) -> float:
    return sum(11.0 if ord(letter) >= 0x1100 else 6.2 for letter in name)


def points(title: str, values: Mapping[str, Sequence[tuple[float, float]]], *, note: str = "") -> str:
    """Points in a plane, a colour for each name; both axes have the same scale, which has no meaning of its own."""
    width, height, room = 470, 300, 14
    xs, ys = ([point[axis] for group in values.values() for point in group] for axis in (0, 1))
    half = max(max(xs) - min(xs), (max(ys) - min(ys)) * width / height, 1e-9) / 2
    middle = ((max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2)
    across = Axis(middle[0] - half, middle[0] + half, room, width - room)
    up = Axis(middle[1] - half * height / width, middle[1] + half * height / width, height - room, room)
    kinds = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(values)}
    drawn = "".join(
        f'<circle class="mark {kinds[name]}" cx="{across.at(x)}" cy="{up.at(y)}" r="4"><title>{escape(name)}</title>'
        "</circle>"
        for name, group in values.items()
        for x, y in group
    )
    legend = "".join(f'<span class="key {kind}">{escape(name)}</span>' for name, kind in kinds.items())
    return (
        f'<figure class="chart wide"><figcaption><b>{escape(title)}</b> <span>{escape(note)}</span>'
        f'<span class="keys many">{legend}</span></figcaption>'
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">{drawn}</svg></figure>'
    )
