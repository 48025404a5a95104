"""The map in a terminal."""

from __future__ import annotations

import io

import torch
from rich.console import Console

from tongsa.engines.inspection import Kind
from tongsa.pages.attention_terminal import draw, upright

KIND = Kind(
    "cross",
    "Encoder–decoder attention",
    ("▁개", "▁dog", "</s>"),
    ("▁The", "▁고양이", "</s>"),
    [torch.eye(3).expand(2, 3, 3)],
)


def printed(width: int = 80, head: int | None = None, colours: bool = False) -> str:
    out = io.StringIO()
    system = "truecolor" if colours else None
    draw(KIND, 0, head, Console(file=out, width=width, color_system=system, force_terminal=colours))
    return out.getvalue()


def test_each_row_has_its_token_its_weights_and_the_strongest() -> None:
    lines = printed().splitlines()
    assert lines[0] == "Encoder–decoder attention · layer 1 of 1, mean of its 2 heads"
    assert lines[-3:] == ["   개  ██      The 100%", "  dog    ██    고양이 100%", "‹end›      ██  ‹end› 100%"]


def test_columns_are_named_from_top_to_bottom() -> None:
    assert upright(["ab", "고양이", "x"]) == ["  고", "a 양", "b 이x"]


def test_a_narrow_window_gets_the_strongest_alone() -> None:
    lines = printed(width=30).splitlines()
    assert "█" not in "".join(lines)
    assert "The 100%" in lines[-3]


def test_colours_are_used_where_there_are_some() -> None:
    assert "\x1b[48;2;58;92;190m" in printed(colours=True)


def test_a_head_is_named() -> None:
    assert "head 2 of 2" in printed(head=1)
