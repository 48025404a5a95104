"""Attention weights in a terminal: a row per query, two characters per key, and the strongest weights as text."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from tongsa.engines.inspection import Kind, shown
from tongsa.pages.heatmaps import INK

SHADES = (" ", "·", "░", "▒", "▓", "█")
"""Shades from weak to strong, for terminals without colours."""
TALLEST = 12
"""Maximum number of letters in the name of a column."""


def draw(kind: Kind, layer: int, head: int | None, console: Console) -> None:
    """Print one map; if the window is too narrow, print only the strongest weights."""
    heads = kind.layers[layer]
    which = f"mean of its {len(heads)} heads" if head is None else f"head {head + 1} of {len(heads)}"
    console.print(Text(f"{kind.title} · layer {layer + 1} of {len(kind.layers)}, {which}", style="bold"))
    queries, keys = [shown(token) for token in kind.queries], [shown(token) for token in kind.keys]
    left = max(map(cell_len, queries))
    fits = left + 2 * len(keys) + 24 <= console.width
    if fits:
        for letters in upright(keys):
            console.print(Text(" " * (left + 2) + letters, style="dim"), no_wrap=True, crop=True)
    for name, row in zip(queries, kind.weights(layer, head).tolist(), strict=True):
        line = Text(" " * (left - cell_len(name)) + name + "  ")
        if fits:
            for weight in row:
                line.append_text(_cell(weight, console))
        line.append(f"  {strongest(row, keys, 1 if fits else 3)}", style="dim")
        console.print(line, no_wrap=True, overflow="ellipsis")


def upright(names: list[str]) -> list[str]:
    """Names written vertically, ending on the line above the map; each is two characters wide."""
    letters = [list(name if len(name) <= TALLEST else name[: TALLEST - 1] + "…") for name in names]
    tallest = max(map(len, letters))
    columns = [[" "] * (tallest - len(each)) + each for each in letters]
    return ["".join(column[i] + " " * (2 - cell_len(column[i])) for column in columns).rstrip() for i in range(tallest)]


def strongest(row: list[float], keys: list[str], most: int) -> str:
    found = sorted(range(len(row)), key=lambda k: -row[k])[:most]
    return ", ".join(f"{keys[k]} {row[k]:.0%}" for k in found)


def _cell(weight: float, console: Console) -> Text:
    """A cell whose ink grows with the square root of the weight, as on the page."""
    depth = min(1.0, max(0.0, weight)) ** 0.5
    if console.color_system is None:
        return Text(2 * SHADES[round(depth * (len(SHADES) - 1))])
    paper = (245, 243, 238)
    red, green, blue = (round(a + (b - a) * depth) for a, b in zip(paper, INK, strict=True))
    return Text("  ", style=Style(bgcolor=f"rgb({red},{green},{blue})"))
