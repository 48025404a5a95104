"""Sections of a classifier's report: which labels are confused, and where a classifier of pictures looks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tongsa.evaluation.labels import Confusion
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.heatmaps import GREY, RGB, embedded, encode_png, picture
from tongsa.pages.markup import escape, scrollable, table

SIDE = 128
"""Height of a picture on the page, in pixels."""
MOST_CELLS = 40
"""Labels up to which the whole table is shown."""
NOTE = (
    "Beside each picture: how much the label draws on each patch through all layers (attention rollout). "
    "Below it: the label given, its probability, and in brackets the right label, where it is known."
)

Pixels = NDArray[np.uint8]
Shares = Sequence[Sequence[float]]


def confusion_section(confusion: Confusion) -> Section:
    head, *rows = confusion.rows()
    if len(confusion.labels) > MOST_CELLS:  # too many to look at: only how often each is right
        head, rows = [head[0], head[-1]], [[row[0], row[-1]] for row in rows]
    cells = [[escape(cell) for cell in row] for row in rows]
    content = scrollable(table([escape(name) for name in head], cells, "plain"), "confusion")
    return Section(key="confusion", title="Confusion", note="right labels by given labels", content=content)


def attention_section(pictures: Sequence[Pixels], attention: Sequence[Shares], titles: Sequence[str]) -> Section:
    """Pictures (channels, height, width), each beside the share of each of its patches."""
    drawn = "".join(
        f'<figure style="display:inline-block;margin:0 1.2em 1.2em 0">{_image(pixels, title)} {_map(shares, pixels)}'
        f"<figcaption>{escape(title)}</figcaption></figure>"
        for pixels, shares, title in zip(pictures, attention, titles, strict=True)
    )
    return Section(
        key="attention", title="Attention", content=f'<p class="note">{NOTE}</p>{scrollable(drawn, "attention")}'
    )


def attention_page(pictures: Sequence[Pixels], attention: Sequence[Shares], titles: Sequence[str], name: str) -> str:
    """A page with where a classifier looks in pictures."""
    top = heading("Attention over pictures", over=f"classifier <b>{escape(name)}</b>")
    section = attention_section(pictures, attention, titles)
    return page(f"Attention · {name}", heading=top, sections=[section], footer="Written by tongsa.")


def _image(pixels: Pixels, title: str) -> str:
    _, height, width = pixels.shape
    return _shown(_url(pixels), width / height, escape(title))


def _map(shares: Shares, pixels: Pixels) -> str:
    _, height, width = pixels.shape
    most = max(max(row) for row in shares)
    return _shown(picture([[share / most for share in row] for row in shares]), width / height, "attention")


def _shown(url: str, aspect: float, title: str) -> str:
    style = f"height:{SIDE}px;width:{SIDE * aspect:.0f}px;image-rendering:pixelated"
    return f'<img src="{url}" alt="{title}" style="{style}">'


def _url(pixels: Pixels) -> str:
    """The picture as it is."""
    rows = [row.tobytes() for row in pixels.transpose(1, 2, 0)]  # (height, width, channels)
    return embedded(encode_png(rows, pixels.shape[2], GREY if len(pixels) == 1 else RGB))
