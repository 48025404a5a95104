"""Attention side by side: the same pair through every model that attends."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from tongsa.lab.compare.result import Picture
from tongsa.pages.heatmaps import COLOUR, opacities, shown
from tongsa.pages.markup import escape
from tongsa.pages.png import data_uri, png

CELL = 20


def draw(pictures: Mapping[str, Picture], colours: Mapping[str, str]) -> str:
    figures = []
    for name, picture in pictures.items():
        which = f"layer {picture.layer} of {picture.layers}" if picture.layers > 1 else "its one attention"
        figures.append(
            f'<figure class="look"><figcaption><b class="name {colours[name]}">{escape(name)}</b> '
            f"<span>{which}</span></figcaption>{_map(name, picture)}</figure>"
        )
    return f'<div class="looks">{"".join(figures)}</div>'


def _map(name: str, picture: Picture) -> str:
    rows, columns = ([shown(token) for token in side] for side in (picture.rows, picture.columns))
    left, top = 14 + max(map(_room, rows)), 12 + 0.75 * max(map(_room, columns))
    width, height = CELL * len(columns), CELL * len(rows)
    right = 6 + 0.75 * _room(columns[-1])
    parts = [
        f'<text x="{left - 6:.1f}" y="{top + CELL * (i + 0.5) + 4:.1f}" text-anchor="end">{escape(token)}</text>'
        for i, token in enumerate(rows)
    ]
    for i, token in enumerate(columns):
        x = left + CELL * (i + 0.5) + 3
        parts.append(f'<text transform="translate({x:.1f} {top - 5:.1f}) rotate(-45)">{escape(token)}</text>')
    lines = "".join(f"M{left:.1f} {top + CELL * i:.1f}h{width}" for i in range(len(rows) + 1))
    lines += "".join(f"M{left + CELL * i:.1f} {top:.1f}v{height}" for i in range(len(columns) + 1))
    image = data_uri(png(opacities(torch.tensor(picture.weights)), COLOUR))
    whole = f"{left + width + right:.0f} {top + height + 4:.0f}"
    return (
        f'<svg class="map still" viewBox="0 0 {whole}" role="img" aria-label="attention of {escape(name)}">'
        f'{"".join(parts)}<image x="{left:.1f}" y="{top:.1f}" width="{width}" height="{height}" '
        f'preserveAspectRatio="none" href="{image}"/><path class="cells" d="{lines}"/></svg>'
    )


def _room(text: str) -> float:
    """About how wide a token is drawn."""
    return sum(11.0 if ord(letter) >= 0x1100 else 6.4 for letter in text)
