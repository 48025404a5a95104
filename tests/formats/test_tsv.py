"""Tab-separated pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tongsa.base.errors import CorpusError
from tongsa.formats.csv import read_pairs as read_tsv
from tongsa.formats.pairs import Reading

READING = Reading(source="en", target="de")


def pairs(tmp_path: Path, content: str) -> list[tuple[str, str]]:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(content.encode())
    return [(pair.source, pair.target) for pair in read_tsv(path, READING)]


def test_the_first_two_columns_are_source_and_target(tmp_path: Path) -> None:
    assert pairs(tmp_path, "one\teins\textra\r\ntwo\tzwei\n") == [("one", "eins"), ("two", "zwei")]


def test_a_header_names_the_columns_in_any_order(tmp_path: Path) -> None:
    assert pairs(tmp_path, "\ufeffid\tde\ten\n7\teins\tone\n") == [("one", "eins")]


def test_words_that_only_look_like_a_header_are_a_pair(tmp_path: Path) -> None:
    assert pairs(tmp_path, "en\tfr\n") == [("en", "fr")]


def test_quotes_are_text(tmp_path: Path) -> None:
    assert pairs(tmp_path, '"one\t"eins\n') == [('"one', '"eins')]


def test_empty_columns_stay_and_blank_lines_are_no_pairs(tmp_path: Path) -> None:
    assert pairs(tmp_path, "one\t\n\ntwo\tzwei\n\n") == [("one", ""), ("two", "zwei")]


def test_a_missing_column_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"pairs\.tsv, line 2: 1 column, 2 are needed"):
        pairs(tmp_path, "one\teins\ntwo zwei\n")
    with pytest.raises(CorpusError, match=r"pairs\.tsv, line 2: 2 columns, 3 are needed"):
        pairs(tmp_path, "id\ten\tde\n7\tone\n")
