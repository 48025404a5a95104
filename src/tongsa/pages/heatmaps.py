"""What the model attends to, as heat maps: every layer and head of a few short sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from tongsa.engines.inspection import Inspection
from tongsa.pages.markup import escape
from tongsa.pages.png import data_uri, png
from tongsa.pages.run import Example

COLOUR = (58, 92, 190)
CELL = 36
SENTENCES = 3
LONGEST = 16
"""Tokens on a side, at most: more are no picture any more."""


@dataclass(frozen=True)
class Kind:
    """One of the three places where the Transformer attends (§3.2.3)."""

    title: str
    note: str
    layers: list[Tensor]
    """(heads, queries, keys) each."""
    rows: Sequence[str]
    columns: Sequence[str]


def choose(examples: Sequence[Example], chrf: Sequence[float], measure: Callable[[str], int]) -> list[int]:
    """Sentences short enough to be read as a picture, the better translated ones first, no two alike in length."""
    fitting = [i for i, example in enumerate(examples) if 3 <= measure(example.source) < LONGEST]
    if not fitting:
        fitting = sorted(range(len(examples)), key=lambda i: measure(examples[i].source))[:SENTENCES]
    ordered = sorted(fitting, key=lambda i: (-(chrf[i] >= 50), abs(measure(examples[i].source) - 9), -chrf[i]))
    chosen: list[int] = []
    for place in ordered:
        if all(examples[place].source.split()[:2] != examples[other].source.split()[:2] for other in chosen):
            chosen.append(place)
        if len(chosen) == SENTENCES:
            break
    return chosen


def kinds(inspection: Inspection) -> list[Kind]:
    """The kinds that this model has."""
    source, target = inspection.source_tokens, inspection.target_tokens
    read = ("<start>", *target[:-1])  # the decoder reads its own output one step late (§3.1)
    attention = inspection.attention
    found = [
        Kind(
            "Encoder–decoder attention",
            "Each row is a step that writes a target token; the columns are the source tokens it looks at.",
            [layer[0] for layer in attention.cross],
            target,
            source,
        ),
        Kind(
            "Encoder self-attention",
            "Each source token (row) looks at all the source tokens.",
            [layer[0] for layer in attention.encoder],
            source,
            source,
        ),
        Kind(
            "Decoder self-attention",
            "Each step (row, named by the token it writes) looks at what has been written so far.",
            [layer[0] for layer in attention.decoder],
            target,
            read,
        ),
    ]
    return [kind for kind in found if kind.layers and _fits(kind)]


def _fits(kind: Kind) -> bool:
    return all(tuple(layer.shape[1:]) == (len(kind.rows), len(kind.columns)) for layer in kind.layers)


def draw(kind: Kind, open_at_once: bool) -> str:
    """A large picture of one head with its tokens, beside small ones of all heads to choose from."""
    chosen = sharpest(kind.layers)
    small = []
    heads = max(len(layer) for layer in kind.layers)
    for number, layer in enumerate(kind.layers, start=1):
        cells = [_button(layer.mean(dim=0), f"layer {number}, mean of the heads", "mean", number - 1 == chosen)]
        cells += [_button(head, f"layer {number}, head {h}", str(h), False) for h, head in enumerate(layer, start=1)]
        small.append(f'<div class="layer"><span>layer {number}</span>{"".join(cells)}</div>')
    top = f'<div class="layer head"><span></span><b>mean</b>{"".join(f"<b>{h + 1}</b>" for h in range(heads))}</div>'
    aspect = len(kind.columns) / len(kind.rows)
    return (
        f'<details class="kind"{" open" if open_at_once else ""}><summary>{escape(kind.title)}</summary>'
        f'<p class="note">{escape(kind.note)}</p><div class="attention" style="--heads:{heads};--aspect:{aspect:.3f}">'
        f'<div class="large"><p class="which">layer {chosen + 1}, mean of the heads</p>{_large(kind, chosen)}</div>'
        f'<div class="small">{top}{"".join(small)}</div></div></details>'
    )


def sharpest(layers: Sequence[Tensor]) -> int:
    """The layer whose heads together look most clearly somewhere."""
    return max(range(len(layers)), key=lambda i: float(layers[i].mean(dim=0).max(dim=-1).values.mean()))


def opacities(weights: Tensor) -> list[list[int]]:
    """Square roots, so that small weights are seen as well: 0.01 is a tenth of the ink."""
    rows: list[list[int]] = (weights.float().clamp(0, 1).sqrt() * 255).round().int().tolist()
    return rows


def _picture(weights: Tensor) -> str:
    return data_uri(png(opacities(weights.cpu()), COLOUR))


def _button(weights: Tensor, name: str, label: str, pressed: bool) -> str:
    return (
        f'<button type="button" aria-pressed="{str(pressed).lower()}" title="{name}" data-name="{name}">'
        f'<img alt="{name}" src="{_picture(weights)}"></button>'
    )


def _large(kind: Kind, layer: int) -> str:
    names = [[shown(token) for token in side] for side in (kind.rows, kind.columns)]
    left = 16 + max(map(_room, names[0]))
    top = 14 + 0.75 * max(map(_room, names[1]))
    width, height = CELL * len(names[1]), CELL * len(names[0])
    right = 8 + 0.75 * _room(names[1][-1])
    parts = [
        f'<text x="{left - 8}" y="{top + CELL * (i + 0.5) + 4.5:.1f}" text-anchor="end">{escape(name)}</text>'
        for i, name in enumerate(names[0])
    ]
    for i, name in enumerate(names[1]):
        x, y = left + CELL * (i + 0.5), top - 7
        parts.append(f'<text transform="translate({x + 4:.1f} {y:.1f}) rotate(-45)">{escape(name)}</text>')
    lines = "".join(f"M{left} {top + CELL * i:.1f}h{width}" for i in range(len(names[0]) + 1))
    lines += "".join(f"M{left + CELL * i:.1f} {top:.1f}v{height}" for i in range(len(names[1]) + 1))
    return (
        f'<div class="scroll"><svg class="map" width="{left + width + right:.0f}" height="{top + height + 4:.0f}" '
        f'viewBox="0 0 {left + width + right:.0f} {top + height + 4:.0f}" data-left="{left}" data-top="{top}" '
        f'data-cell="{CELL}" data-rows="{len(names[0])}" data-columns="{len(names[1])}" role="img" '
        f'aria-label="{escape(kind.title)}">{"".join(parts)}<image x="{left}" y="{top}" width="{width}" '
        f'height="{height}" preserveAspectRatio="none" href="{_picture(kind.layers[layer].mean(dim=0))}"/>'
        f'<path class="cells" d="{lines}"/></svg></div>'
    )


def shown(token: str) -> str:
    """A token as it is read: the mark of a word's beginning goes, one inside a word gets a dot."""
    if token == "</s>":
        return "‹end›"
    if token == "<start>":
        return "‹start›"
    if token.startswith("▁"):
        return token[1:] or "␣"
    return f"·{token}" if any(letter.isalnum() for letter in token) else token


def _room(text: str) -> float:
    """About how wide a token is drawn: letters of East Asia take twice the room."""
    return sum(13.0 if ord(letter) >= 0x1100 else 7.6 for letter in text)
