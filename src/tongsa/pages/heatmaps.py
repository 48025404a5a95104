"""Heat maps: weights as ink, with the tokens of rows and columns. One drawing of attention for all static pages.

The interactive view of the same weights is in static/attention; data come from engines/inspection.py.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

from tongsa.engines.inspection import Kind, shown
from tongsa.pages.markup import escape, scrollable

INK = (58, 92, 190)
"""Red, green and blue of the ink; its opacity shows the weight."""
CELL = 36
LEGEND = (
    '<p class="note">Choose a layer and a head among the small pictures; the large one shows it with its tokens. '
    "A dot before a token means that it continues the word before it.</p>"
    '<p class="scale"><span>weight 0</span><i></i><span>1</span> <small>(ink grows with the square root, '
    "so that small weights are visible)</small></p>"
)
NOTES = {
    "cross": "Each row is a step that writes a target token; the columns are the source tokens it looks at.",
    "encoder": "Each source token (row) looks at all the source tokens.",
    "decoder": "Each step (row, named by the token it writes) looks at what has been written so far.",
}
"""Explanations of the maps, by kind of attention."""

Weights = Sequence[Sequence[float]]


def draw_map(weights: Weights, rows: Sequence[str], columns: Sequence[str], label: str, cell: int = CELL) -> str:
    """An SVG of weights (row by row, from 0 to 1) with a name for each row and column."""
    left, top = 16 + max(map(_room, rows)), 14 + 0.75 * max(map(_room, columns))
    width, height = cell * len(columns), cell * len(rows)
    right = 8 + 0.75 * _room(columns[-1])
    names = [
        f'<text x="{left - 8:.1f}" y="{top + cell * (i + 0.5) + 4.5:.1f}" text-anchor="end">{escape(name)}</text>'
        for i, name in enumerate(rows)
    ]
    for i, name in enumerate(columns):
        x, y = left + cell * (i + 0.5) + 4, top - 7
        names.append(f'<text transform="translate({x:.1f} {y:.1f}) rotate(-45)">{escape(name)}</text>')
    lines = "".join(f"M{left:.1f} {top + cell * i:.1f}h{width}" for i in range(len(rows) + 1))
    lines += "".join(f"M{left + cell * i:.1f} {top:.1f}v{height}" for i in range(len(columns) + 1))
    whole, high = f"{left + width + right:.0f}", f"{top + height + 4:.0f}"
    svg = (
        f'<svg class="map" width="{whole}" height="{high}" viewBox="0 0 {whole} {high}" '
        f'data-left="{left:.1f}" data-top="{top:.1f}" data-cell="{cell}" data-rows="{len(rows)}" '
        f'data-columns="{len(columns)}" role="img" aria-label="{escape(label)}">{"".join(names)}'
        f'<image x="{left:.1f}" y="{top:.1f}" width="{width}" height="{height}" preserveAspectRatio="none" '
        f'href="{picture(weights)}"/><path class="cells" d="{lines}"/></svg>'
    )
    return scrollable(svg, label)


def draw_heads(kind: Kind, *, open_at_once: bool) -> str:
    """A large map of one layer with its tokens, beside small ones of all layers and heads to choose from."""
    chosen = kind.sharpest()
    small = []
    heads = max(len(layer) for layer in kind.layers)
    for number, layer in enumerate(kind.layers, start=1):
        mean = f"layer {number}, mean of the heads"
        cells = [_button(layer.mean(dim=0).tolist(), mean, number - 1 == chosen)]
        cells += [_button(head.tolist(), f"layer {number}, head {h}", False) for h, head in enumerate(layer, start=1)]
        small.append(f'<div class="layer"><span>layer {number}</span>{"".join(cells)}</div>')
    top = f'<div class="layer head"><span></span><b>mean</b>{"".join(f"<b>{h + 1}</b>" for h in range(heads))}</div>'
    rows, columns = ([shown(token) for token in side] for side in (kind.queries, kind.keys))
    large = draw_map(kind.weights(chosen, None).tolist(), rows, columns, kind.title)
    return (
        f'<details class="kind"{" open" if open_at_once else ""}><summary>{escape(kind.title)}</summary>'
        f'<p class="note">{escape(NOTES[kind.name])}</p>'
        f'<div class="attention" style="--heads:{heads};--aspect:{len(columns) / len(rows):.3f}">'
        f'<div class="large"><p class="which">layer {chosen + 1}, mean of the heads</p>{large}</div>'
        f'<div class="small">{top}{"".join(small)}</div></div></details>'
    )


def _button(weights: Weights, name: str, pressed: bool) -> str:
    return (
        f'<button type="button" aria-pressed="{str(pressed).lower()}" title="{name}" data-name="{name}">'
        f'<img alt="{name}" src="{picture(weights)}"></button>'
    )


def picture(weights: Weights) -> str:
    """The weights as a picture embedded in the page, one pixel per weight."""
    return embedded(png(opacities(weights), INK))


def opacities(weights: Weights) -> list[list[int]]:
    """Opacities: square roots of the weights, so that small ones are visible (0.01 gets a tenth of the ink)."""
    return [[round(min(1.0, max(0.0, weight)) ** 0.5 * 255) for weight in row] for row in weights]


def png(rows: Sequence[Sequence[int]], colour: tuple[int, int, int]) -> bytes:
    """A PNG of one colour whose opacities (0 to 255) are the picture, so that it suits light and dark pages."""
    return encode_png([b"".join(bytes((*colour, alpha)) for alpha in row) for row in rows], len(rows[0]), RGBA)


GREY, RGB, RGBA = 0, 2, 6
"""Kinds of pixels in a PNG: one, three or four bytes each."""


def encode_png(rows: Sequence[bytes], width: int, kind: int) -> bytes:
    """A PNG of rows of pixels."""
    header = struct.pack(">IIBBBBB", width, len(rows), 8, kind, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    chunks = ((b"IHDR", header), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )


def embedded(png: bytes) -> str:
    """The URL of a picture that is part of the page."""
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _room(text: str) -> float:
    """Approximate width of a name: East Asian letters take twice the room."""
    return sum(13.0 if ord(letter) >= 0x1100 else 7.6 for letter in text)
