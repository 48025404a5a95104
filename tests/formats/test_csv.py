"""Comma-separated pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Pair, Place, Reading, open_corpus

READING = Reading(source="en", target="de")


def read(path: Path, text: str) -> list[Pair]:
    path.write_text(text, encoding="utf-8")
    return list(open_corpus([path], READING))


def test_quotes_commas_and_line_ends_inside_of_fields(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    pairs = read(path, '"one, two","eins, ""zwei"""\n"three\nlines",drei\nlast,letzte\n')
    assert pairs == [
        Pair("one, two", 'eins, "zwei"', Place(path, 1)),
        Pair("three\nlines", "drei", Place(path, 2)),
        Pair("last", "letzte", Place(path, 4)),
    ]


@pytest.mark.parametrize("head", ["id,DE,en-US", "id,target,source"])
def test_a_first_line_names_the_columns(tmp_path: Path, head: str) -> None:
    reading_head = head.replace("en-US", "EN")
    assert [pair[:2] for pair in read(tmp_path / "a.csv", f"{reading_head}\n7,eins,one\n")] == [("one", "eins")]


def test_semicolons_as_german_spreadsheets_write_them(tmp_path: Path) -> None:
    assert [pair[:2] for pair in read(tmp_path / "a.csv", "\ufeffen;de\none, two;eins, zwei\n")] == [
        ("one, two", "eins, zwei")
    ]


def test_too_few_columns_are_an_error_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"a\.csv, line 2: 1 column, 2 are needed"):
        read(tmp_path / "a.csv", "one,eins\ntwo\n")


def test_a_quote_that_is_never_closed_is_an_error_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"a\.csv, line 2: not CSV"):
        read(tmp_path / "a.csv", 'one,eins\n"two,zwei\n' + "three,drei\n" * 3)
