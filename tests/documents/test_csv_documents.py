"""CSV documents: which columns are read, and which cells are written."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import upper

from tongsa.base.errors import UsageError
from tongsa.documents import Languages, Options, open_document, translate_document
from tongsa.formats.pairs import Reading, open_corpus


def translated(folder: Path, text: str, name: str = "a.csv", columns: tuple[str, ...] = ()) -> str:
    (folder / name).write_text(text)
    return translate_document(upper(), folder / name, columns=columns).target.read_text()


@pytest.mark.parametrize("header", ["en,de", "EN,DE", "eng,ger", " En , De ", "source,target", '"EN","DE"'])
def test_a_header_that_names_the_languages_of_a_corpus_names_those_of_a_document(tmp_path: Path, header: str) -> None:
    assert translated(tmp_path, f"{header}\nsome words,\n") == f"{header}\nsome words,SOME WORDS\n"
    (tmp_path / "corpus.csv").write_text(f"{header}\nsome words,ein paar Worte\n")
    pairs = list(open_corpus([tmp_path / "corpus.csv"], Reading(source="en", target="de")))
    assert [(pair.source, pair.target) for pair in pairs] == [("some words", "ein paar Worte")]


def test_columns_may_stand_in_any_order_and_among_others(tmp_path: Path) -> None:
    text = "id,DE,note,EN\n1,,x,some words\n2,da,x,some words\n3,  ,x,more words\n"
    expected = "id,DE,note,EN\n1,SOME WORDS,x,some words\n2,da,x,some words\n3,MORE WORDS,x,more words\n"
    assert translated(tmp_path, text) == expected


def test_a_header_without_the_languages_is_an_error_that_names_its_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("en,fr\nsome words,\n")
    with pytest.raises(UsageError) as caught:
        open_document(tmp_path / "a.csv", Options(languages=Languages(source="en", target="de")))
    assert "which columns?" in str(caught.value)
    assert "Its columns: en, fr" in str(caught.value)
