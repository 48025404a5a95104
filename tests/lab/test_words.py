from __future__ import annotations

from pathlib import Path

import pytest

from tongsa.base.errors import CorpusError, UsageError
from tongsa.lab.language_model.words import Words, read_text, split


def test_words_are_lower_case_and_punctuation_stands_by_itself() -> None:
    assert split("Well-known: it's 3.5 Euros!") == ["well-known", ":", "it's", "3.5", "euros", "!"]


def test_the_most_frequent_words_are_kept_and_equals_come_by_their_letters() -> None:
    words = Words.of([["b", "a", "c", "c"], ["d", "a"]], size=5)
    assert words.words == ["<unk>", "<end>", "a", "c", "b"]


def test_a_stream_begins_and_ends_with_an_end_and_counts_what_it_does_not_know() -> None:
    words = Words.of([["a", "b"]], size=4)
    assert words.stream([["a", "x"], ["b"]]).tolist() == [1, 2, 0, 1, 3, 1]


def test_a_part_of_a_file_is_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "text.en"
    path.write_text("One two.\n\nThree.\nFour.\n", encoding="utf-8")
    assert read_text(path, lines=3) == [["one", "two", "."], ["three", "."]]


def test_what_cannot_be_learnt_from_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n \n", encoding="utf-8")
    with pytest.raises(CorpusError, match="holds no words"):
        read_text(tmp_path / "empty")
    with pytest.raises(UsageError, match="vocabulary of 2 words"):
        Words.of([["a"]], size=2)
