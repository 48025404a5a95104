"""`tongsa explain`: a page and the numbers of every step."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Tongsa


def test_the_page_and_the_numbers_are_written(tongsa: Tongsa, trained_translator: Path, tmp_path: Path) -> None:
    out, values = tmp_path / "walk.html", tmp_path / "walk.json"
    tongsa("explain", trained_translator, "나는 책을 읽는다.", "--out", out, "--values", values, "--language", "ko")
    assert "쿼리" in out.read_text(encoding="utf-8")
    assert json.loads(values.read_text(encoding="utf-8"))["heads"] == 4


def test_a_language_without_texts_is_refused(tongsa: Tongsa, trained_translator: Path, tmp_path: Path) -> None:
    asked = ("explain", trained_translator, "나는", "--out", tmp_path / "x.html", "--language", "fr")
    assert "en, ko" in tongsa.refuses(*asked)
    assert not (tmp_path / "x.html").exists()
