"""Pictures for paper and slides."""

from __future__ import annotations

import re
import struct
import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest
import torch

from tongsa.base.errors import MissingExtraError
from tongsa.engines.inspection import Facts, Inspection
from tongsa.models.contracts import Attention

pytest.importorskip("matplotlib", reason="needs matplotlib:  pip install 'tongsa[pictures]'")

from tongsa.pages import attention_picture as picture
from tongsa.pages.frame import STATIC
from tongsa.pages.heatmaps import INK


def made(source: tuple[str, ...] = ("▁The", "▁$dog$", "</s>"), heads: int = 4) -> Inspection:
    torch.manual_seed(0)
    weights = [torch.rand(1, heads, 2, len(source)).softmax(-1) for _ in range(3)]
    facts = Facts(architecture="transformer", source="en", target="ko", d_model=64, d_k=16)
    return Inspection(source, ("▁개", "</s>"), Attention([], [], weights), facts)


def draw(inspection: Inspection, form: str, layer: int = 0, head: int | None = None) -> bytes:
    return picture.draw(inspection, inspection.kinds()[0], layer, head, form)


def test_an_svg_keeps_its_text_and_says_what_is_shown() -> None:
    root = Xml.fromstring(draw(made(), "svg", layer=1, head=2))
    texts = {"".join(node.itertext()).strip() for node in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"The $dog$", "$dog$", "‹end›", "Layer 1", "Layer 3", "mean", "head 4"} <= texts
    assert "Encoder–decoder attention · layer 2, head 3" in texts


def test_a_png_is_as_large_as_its_sentence_needs() -> None:
    def size(data: bytes) -> tuple[int, int]:
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        return struct.unpack(">II", data[16:24])  # type: ignore[return-value]

    short, long = size(draw(made(), "png")), size(draw(made((*(f"▁w{n}" for n in range(40)), "</s>")), "png"))
    assert long[0] > short[0] + 1000
    assert short[1] <= long[1]


def test_the_same_sentence_gives_the_same_picture() -> None:
    assert draw(made(), "svg") == draw(made(), "svg")


def test_another_head_gives_another_picture() -> None:
    assert draw(made(), "png", head=0) != draw(made(), "png", head=1)


def test_one_head_alone_needs_no_mean() -> None:
    root = Xml.fromstring(draw(made(heads=1), "svg", head=0))
    assert "mean" not in {"".join(node.itertext()).strip() for node in root.iter("{http://www.w3.org/2000/svg}text")}


def test_hangul_is_drawn_where_a_font_has_it() -> None:
    families, missing = picture.fonts("The 개 ‹end›")
    assert families[0] == "DejaVu Sans"
    if missing:
        pytest.skip("no font of this machine has Hangul")
    assert len(families) == 2


def test_a_letter_without_a_font_is_a_box_and_no_warning() -> None:
    draw(made(("▁\U000e0041\ufdd0", "</s>")), "png")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"tongsa\[pictures\]"):
        draw(made(), "png")


def test_the_style_sheet_and_the_picture_have_the_same_ink() -> None:
    from tongsa.pages.attention import STATIC

    style = Path(STATIC / "colours.css").read_text(encoding="utf-8")
    assert all(f"--heat-{i}: {colour};" in style for i, colour in enumerate(picture.RAMP))


def test_pictures_have_the_colours_of_the_page() -> None:
    light = (STATIC / "colours.css").read_text(encoding="utf-8").split("@media")[0]
    assert tuple(re.findall(r"--heat-\d: (#\w+)", light)) == picture.RAMP
    assert picture.RAMP[3] == "#{:02x}{:02x}{:02x}".format(*INK)
