"""Terms in documents, with a real translator: fluent sentences, with the marks where they belong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tongsa.documents import Resources, translate_document
from tongsa.translation.glossary import Glossary
from tongsa.translation.translator import Translator

SENTENCE = "그는 준호 씨에게 어려운 소설을 보냈습니다."


@pytest.fixture(scope="module")
def translator(trained_translator: Path) -> Translator:
    return Translator.load(trained_translator, device="cpu", threads=1)


def html(translator: Translator, tmp_path: Path, text: str, terms: dict[str, str]) -> tuple[str, tuple[str, ...]]:
    source = tmp_path / "a.html"
    source.write_text(f"<p>{text}</p>\n", encoding="utf-8")
    made = translate_document(translator, source, resources=Resources(glossary=Glossary(terms)))
    return made.target.read_text(encoding="utf-8").strip()[3:-4], made.outcomes[0].notes


def test_a_term_in_a_document_is_written_into_the_whole_sentence(translator: Translator, tmp_path: Path) -> None:
    own, _ = html(translator, tmp_path, SENTENCE, {})
    found, notes = html(translator, tmp_path, SENTENCE, {"소설": "saga"})
    assert (found, notes) == (own.replace("novel", "saga"), ())


def test_tags_enclose_the_term_that_stands_for_the_words_they_enclosed(translator: Translator, tmp_path: Path) -> None:
    marked = SENTENCE.replace("소설을", "<b>소설을</b>")
    found, _ = html(translator, tmp_path, marked, {"소설": "saga"})
    assert re.search(r"<b>[^<]*\bsaga</b>", found), "and an adjective that the model attends to with it"
