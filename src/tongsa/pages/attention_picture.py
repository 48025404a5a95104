"""The weights as one picture for paper and slides: a large map with its tokens, and all layers and heads beside it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tongsa.base.errors import MissingExtraError
from tongsa.engines.inspection import Inspection, Kind, shown
from tongsa.pages.attention import sentence

if TYPE_CHECKING:
    from torch import Tensor

RAMP = ("#fbfaf7", "#cfdaf5", "#7f9be4", "#3a5cbe", "#16255f")
PAPER, INK, SOFT, RULE, SEAL = "#fbfaf7", "#1c2230", "#565e6d", "#e0dcd2", "#b23424"
HANGUL_FONTS = ("Noto Sans CJK", "Noto Sans KR", "NanumGothic", "Nanum Gothic", "Malgun Gothic", "Apple SD Gothic Neo")
FORMATS = ("png", "svg")
SMALL, CELL = 0.72, 0.27
"""Size in inches of a small map, and of one token in the large map."""
DPI, LARGEST = 180, 6000
"""Pixels per inch, and the maximum number of pixels on a side."""


def draw(inspection: Inspection, kind: Kind, layer: int, head: int | None, form: str) -> bytes:
    """A PNG or SVG; `head` None is the mean of the layer's heads."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtraError("matplotlib", "pictures") from error
    words = [sentence(inspection.source_tokens), sentence(inspection.target_tokens)]
    families, missing = fonts("".join((*words, *map(shown, (*kind.queries, *kind.keys)))))
    blank = str.maketrans(dict.fromkeys(missing, "▯"))  # the usual box for a letter without a font
    settings: Any = {  # matplotlib's own type names every setting there is
        "font.family": families,
        "svg.fonttype": "none",  # keep text as text: it can be searched, and viewers have their own fonts
        "svg.hashsalt": "tongsa",
        "mathtext.fontset": "cm",
    }
    with matplotlib.rc_context(settings):
        figure = _compose(inspection, kind, (layer, head), blank)
        out = io.BytesIO()
        dpi = min(DPI, LARGEST / max(figure.get_size_inches()))
        figure.savefig(out, format=form, dpi=dpi, facecolor=PAPER, metadata={"Date": None} if form == "svg" else None)
    return out.getvalue()


def _compose(inspection: Inspection, kind: Kind, chosen: tuple[int, int | None], blank: dict[int, str]) -> Any:
    from matplotlib.figure import Figure

    rows, columns = len(kind.queries), len(kind.keys)
    tokens = [[shown(token).translate(blank) for token in side] for side in (kind.queries, kind.keys)]
    room = [0.25 + 0.085 * max(map(_width, side)) for side in tokens]
    heads = max(len(layer) for layer in kind.layers)
    small = (SMALL * min(1.6, max(0.6, columns / rows)), SMALL)
    grid = ((small[0] + 0.1) * (heads + (heads > 1)) + 0.75, (small[1] + 0.1) * len(kind.layers) + 0.5)
    large = (CELL * columns, CELL * rows)
    body = max(large[1] + 0.75 * room[1] + 0.5, grid[1] + 0.9)
    width, height = max(7.2, 0.6 + room[0] + large[0] + 0.9 + grid[0]), 1.3 + body + 0.45
    figure = Figure(figsize=(width, height))

    def inches(left: float, top: float, wide: float, high: float) -> Any:
        return figure.add_axes((left / width, 1 - (top + high) / height, wide / width, high / height))

    _heading(figure, inspection, kind, chosen, blank, (width, height))
    large_axes = inches(0.6 + room[0], 1.35 + 0.75 * room[1], *large)
    _large(large_axes, kind.weights(*chosen), tokens, kind)
    left, top = 0.6 + room[0] + large[0] + 1.2, 1.75
    for layer, head, weights in _all(kind):
        place = 0 if head is None else head + (heads > 1)
        axes = inches(left + place * (small[0] + 0.1), top + layer * (small[1] + 0.1), *small)
        _small(axes, weights, (layer, head) == chosen)
        if place == 0:
            axes.set_ylabel(f"Layer {layer + 1}", fontsize=8.5, color=SOFT, rotation=0, ha="right", va="center")
        if layer == 0:
            axes.set_title("mean" if head is None else f"head {head + 1}", fontsize=8.5, color=SOFT, pad=5)
    return figure


def _heading(
    figure: Any,
    inspection: Inspection,
    kind: Kind,
    chosen: tuple[int, int | None],
    blank: dict[int, str],
    size: tuple[float, float],
) -> None:
    width, height = size

    def write(inch: float, text: str, **how: Any) -> None:
        figure.text(0.4 / width, 1 - inch / height, text, va="baseline", parse_math=False, **how)

    write(0.5, _cut(sentence(inspection.source_tokens).translate(blank), width), fontsize=13, weight="bold", color=INK)
    write(0.78, _cut(sentence(inspection.target_tokens).translate(blank), width), fontsize=12, color=SOFT)
    layer, head = chosen
    which = "mean of the heads" if head is None else f"head {head + 1}"
    write(1.15, f"{kind.title} · layer {layer + 1}, {which}", fontsize=10.5, color=SEAL, weight="bold")
    if inspection.facts.d_k:
        formula = rf"$\mathrm{{softmax}}\left(QK^\mathrm{{T}}/\sqrt{{d_k}}\right)$,  $d_k={inspection.facts.d_k}$"
        figure.text(1 - 0.4 / width, 1 - 1.15 / height, formula, ha="right", va="baseline", fontsize=11, color=INK)


def _large(axes: Any, weights: Tensor, tokens: list[list[str]], kind: Kind) -> None:
    from matplotlib.patches import Rectangle

    rows, columns = weights.shape
    axes.imshow(weights.tolist(), aspect="auto", interpolation="nearest", **_ink())
    axes.set_xticks(range(columns), tokens[1], rotation=45, ha="left", rotation_mode="anchor", parse_math=False)
    axes.set_yticks(range(rows), tokens[0], parse_math=False)
    axes.tick_params(which="both", length=0, labelsize=9.5, labelcolor=INK, top=True, bottom=False)
    axes.tick_params(axis="x", labeltop=True, labelbottom=False, pad=2)
    axes.set_xticks([x - 0.5 for x in range(columns + 1)], minor=True)
    axes.set_yticks([y - 0.5 for y in range(rows + 1)], minor=True)
    axes.grid(which="minor", color=PAPER, linewidth=1.6)
    axes.spines[:].set_visible(False)
    read = "written so far" if kind.name == "decoder" else "source"
    axes.set_xlabel(f"keys: {read}", fontsize=8.5, color=SOFT, labelpad=8)
    written = "source" if kind.name == "encoder" else "being written"
    axes.set_ylabel(f"queries: {written}", fontsize=8.5, color=SOFT, labelpad=8)
    if kind.name == "decoder":  # later tokens are masked (§3.2.3)
        for row in range(rows - 1):
            masked = Rectangle(
                (row + 0.5, row - 0.5), columns - row - 1, 1, hatch="////", fill=False, edgecolor=RULE, lw=0
            )
            axes.add_patch(masked)


def _small(axes: Any, weights: Tensor, chosen: bool) -> None:
    axes.imshow(weights.tolist(), aspect="auto", interpolation="nearest", **_ink())
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set(color=SEAL if chosen else RULE, linewidth=2 if chosen else 0.8)


def _ink() -> dict[str, Any]:
    """Ink grows with the square root of the weight, as on the page."""
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm

    return {"cmap": LinearSegmentedColormap.from_list("ink", RAMP), "norm": PowerNorm(0.5, 0, 1)}


def _all(kind: Kind) -> Iterator[tuple[int, int | None, Tensor]]:
    for number, layer in enumerate(kind.layers):
        if len(layer) > 1:
            yield number, None, layer.mean(dim=0)
        for head, weights in enumerate(layer):
            yield number, head, weights


def _cut(text: str, inches: float) -> str:
    """The beginning of a sentence, as much as fits on a line."""
    letters = int((inches - 0.8) / 0.115)
    return text if _width(text) <= letters else text[: max(1, letters - 2)] + " …"


def _width(text: str) -> int:
    """Width of a text in columns; East Asian letters take two."""
    return sum(2 if ord(letter) >= 0x1100 else 1 for letter in text)


def fonts(text: str) -> tuple[list[str], set[str]]:
    """Font families that together have every letter, the default first, and the letters that no installed font has."""
    from matplotlib import font_manager

    wanted = {letter for letter in text if not letter.isspace()}
    entries = [entry for entry in font_manager.fontManager.ttflist if entry.style == "normal" and entry.weight == 400]
    order = ("DejaVu Sans", *HANGUL_FONTS)

    def rank(entry: Any) -> int:
        return next((i for i, name in enumerate(order) if entry.name.startswith(name)), len(order))

    families: list[str] = []
    for entry in sorted(entries, key=lambda entry: (rank(entry), entry.name != "DejaVu Sans", entry.name)):
        if not wanted and families:
            break
        if entry.name in families:
            continue
        has = {chr(code) for code in font_manager.get_font(entry.fname).get_charmap()}
        if wanted & has or not families:
            families.append(entry.name)
            wanted -= has
    return families, wanted
