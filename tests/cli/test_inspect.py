"""`tongsa inspect`"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.conftest import Tongsa


def test_the_terminal_shows_a_row_for_each_token(tongsa: Tongsa, whole_translator: Path) -> None:
    done = tongsa("inspect", whole_translator, "고양이가 자요.", "--to-text", "The cat sleeps.")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[:2] == ["고양이가 자요.", "The cat sleeps."]
    assert lines[3].startswith("Encoder–decoder attention · layer")
    assert lines[-1].strip().startswith("‹end›")
    assert "%" in lines[-1]


def test_another_layer_and_head_are_shown_when_they_are_asked_for(tongsa: Tongsa, whole_translator: Path) -> None:
    asked = ("inspect", whole_translator, "자요.", "--to-text", "It sleeps.", "--kind", "decoder", "--layer", "2")
    assert "Decoder self-attention · layer 2 of 2, head 3 of 4" in tongsa(*asked, "--head", "3").out


@pytest.mark.parametrize(
    ("name", "start"), [("a.html", b"<!doctype html>"), ("a.png", b"\x89PNG"), ("a.SVG", b"<?xml")]
)
def test_a_file_is_written_by_its_suffix(
    tongsa: Tongsa, whole_translator: Path, tmp_path: Path, name: str, start: bytes
) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib:  pip install 'tongsa[pictures]'")
    done = tongsa("inspect", whole_translator, "고양이가 자요.", "--to-text", "The cat.", "--out", tmp_path / name)
    assert done.code == 0, done.err
    assert done.out.split() == [str(tmp_path / name)]
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--out", "a.pdf"), ".html, .png, .svg"),
        (("--kind", "sideways"), "encoder-decoder, encoder, decoder"),
        (("--layer", "3"), "Layers: 1 to 2"),
        (("--layer", "1", "--head", "5"), "Heads of layer 1: 1 to 4"),
        (("--threads", "0"), "--threads"),
    ],
)
def test_what_cannot_be_shown_is_told(
    tongsa: Tongsa, whole_translator: Path, given: tuple[str, ...], told: str
) -> None:
    assert told in tongsa.refuses("inspect", whole_translator, "자요.", "--to-text", "It.", *given)


def test_a_page_can_have_experiments_stored_in_it(tongsa: Tongsa, whole_translator: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.html"
    done = tongsa("inspect", whole_translator, "고양이가 자요.", "--to-text", "The cat.", "--experiments", "--out", out)
    assert done.code == 0, done.err
    found = re.search(r'id="data">(.*?)</script>', out.read_text(encoding="utf-8"))
    assert found
    values = json.loads(found[1])
    heads = [
        f"{kind}.{layer + 1}.{head + 1}"
        for kind in ("encoder", "decoder", "cross")
        for layer, weights in enumerate(values[kind])
        for head in range(len(weights))
    ]
    others = ["scale", "cross", "positions.none", "positions.shuffled"]
    assert list(values["experiments"]["interventions"]) == [*heads, *others]
    assert values["experiments"]["beam"]["hypotheses"]
    assert tongsa("inspect", whole_translator, "자요.", "--experiments").code == 2


def test_a_blank_sentence_is_refused(tongsa: Tongsa, whole_translator: Path) -> None:
    assert "no text" in tongsa.refuses("inspect", whole_translator, " ")
