"""Sentences: split where people would, and joined to the very same text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.text.sentences import split

CASES = {
    "titles and prices": ("en", ["Dr. Smith paid $3.50. ", "He left at 5 p.m. on Monday."]),
    "quotes": ("en", ["“Really?” she asked. ", "Yes... ", "No!"]),
    "no as a word and as a number": (
        "en",
        ["He said no. ", "Then he left. ", "No. 5 is alive. ", "Version 2.0 is out."],
    ),
    "years": ("en", ["It ended in 1999. ", "The next began."]),
    "initials": ("en", ["A. B. Smith wrote it. ", "J. Doe did not."]),
    "numbered lists": ("en", ["1. Open it.\n", "2. Close it."]),
    "German ordinals and abbreviations": ("de", ["Am 3. Oktober kam z. B. Herr Dr. Müller. ", "Er blieb bis 12 Uhr. "]),
    "French": ("fr", ["M. Dupont est là. ", "« Oui ? » dit-il."]),
    "Korean": ("ko", ["안녕하세요. ", "저는 학생입니다. ", "3.5점을 받았다."]),
    "Japanese": ("ja", ["今日は。", "「行く。」と言った。", "終わり！", "はい。"]),
    "Chinese": ("zh", ["你好。", "你是谁？", "再见！"]),
    "ellipses within": ("en", ["Well… maybe not. ", "Wait ... what?"]),
    "paragraphs": ("en", ["One thing\n\n", "Another thing"]),
}


@pytest.mark.parametrize("case", CASES)
def test_sentences_end_where_people_end_them(case: str) -> None:
    language, sentences = CASES[case]
    assert split("".join(sentences), language) == sentences


@given(st.text(alphabet="ab A.!?…。 \n\"'»1다", max_size=60), st.sampled_from(["en", "de", "ko", "ja", "xx"]))
def test_sentences_joined_are_the_text(text: str, language: str) -> None:
    assert "".join(split(text, language)) == text


def test_an_endless_sentence_is_cut_at_commas_or_blanks() -> None:
    text = ", ".join(["some words in a row"] * 100)
    parts = split(text, "en", longest=200)
    assert "".join(parts) == text
    assert all(len(part) <= 200 for part in parts)
    assert all(part.endswith(", ") for part in parts[:-1])
