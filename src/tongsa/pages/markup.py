"""Text as HTML. Everything that comes from data goes through `escape`, everything numeric through a format below."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Sequence

_CONTROLS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), "\N{REPLACEMENT CHARACTER}")


def escape(text: object) -> str:
    """Text that is safe between tags and in quotes; lone surrogates and control characters are replaced."""
    whole = str(text).encode("utf-8", "replace").decode()
    return html.escape(whole.translate(_CONTROLS), quote=True)


def data(values: object, key: str = "") -> str:
    """Values for the page's script, in an element that browsers do not execute; `key` is the id of the element."""
    text = json.dumps(values, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    harmless = text.replace("<", "\\u003c").replace("&", "\\u0026")
    named = f' id="{key}"' if key else ""
    return f'<script type="application/json"{named}>{harmless}</script>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    """A table; head and cells must be HTML."""
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def scrollable(content: str, name: str) -> str:
    """What may be wider than a phone, in a frame that scrolls, by keys too; `content` must be HTML."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(name)}">{content}</div>'


def tile(value: str, name: str, meaning: str = "", signature: str = "") -> str:
    """A number with its name below it, in a `<div class="tiles">`."""
    below = f"<small>{escape(meaning)}</small>" if meaning else ""
    below += f"<code>{escape(signature)}</code>" if signature else ""
    return f'<div class="tile"><b>{escape(value)}</b><span>{escape(name)}</span>{below}</div>'


def missing(what: str) -> str:
    return f'<p class="missing">{escape(what)}</p>'


def number(value: float) -> str:
    """A number in as few digits as possible: 29,000; 0.003; 1e-09."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "–"
    if abs(value) >= 1e-4 and abs(value) < 1e15:
        if float(value).is_integer():
            return f"{value:,.0f}"
        digits = max(0, 3 - math.floor(math.log10(abs(value))))
        return f"{value:,.{digits}f}".rstrip("0").rstrip(".")
    return f"{value:.2g}"


def count(value: float) -> str:
    """Large counts in few digits: 2.35M."""
    for size, letter in ((1e9, "G"), (1e6, "M")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:,.0f}"


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.1f} min".replace(".0 ", " ")
    return f"{seconds / 3600:.1f} h".replace(".0 ", " ")
