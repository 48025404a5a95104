"""Finding the reader of a corpus, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Pair, Place, Reading, open_corpus

READING = Reading(source="en", target="de")


def corpus(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content, encoding="utf-8")
    return folder


def test_several_corpora_of_several_kinds_are_read_one_after_the_other(tmp_path: Path) -> None:
    corpus(tmp_path, a_en="one\n", a_de="eins\n", b_tsv="two\tzwei\n", c_jsonl='{"en": "three", "de": "drei"}\n')
    names = [tmp_path / "a", str(tmp_path / "b.tsv"), tmp_path / "c.jsonl"]
    opened = open_corpus(names, READING)
    assert list(opened) == [
        Pair("one", "eins", Place(tmp_path / "a.en", 1)),
        Pair("two", "zwei", Place(tmp_path / "b.tsv", 1)),
        Pair("three", "drei", Place(tmp_path / "c.jsonl", 1)),
    ]
    assert list(opened) == list(opened), "a corpus is read anew each time"
    assert opened.name == ", ".join(map(str, names))


def test_a_place_names_file_and_line() -> None:
    assert str(Place(Path("a.en"), 12345)) == "a.en, line 12,345"
    assert str(Place(Path("a.xliff"), "unit x")) == "a.xliff, unit x"


def test_a_prefix_with_dots_is_a_prefix(tmp_path: Path) -> None:
    corpus(tmp_path, **{"news.2024.en": "one\n", "news.2024.de": "eins\n"})
    assert [pair.target for pair in open_corpus([tmp_path / "news.2024"], READING)] == ["eins"]


@pytest.mark.parametrize(("present", "missing"), [("en", "de"), ("de", "en")])
def test_a_missing_language_is_named(tmp_path: Path, present: str, missing: str) -> None:
    (tmp_path / f"train.{present}").write_text("text\n")
    with pytest.raises(CorpusError) as caught:
        open_corpus([tmp_path / "train"], READING)
    assert f"train.{present} is there, but {tmp_path}/train.{missing} is not" in str(caught.value)


def test_a_missing_corpus_shows_what_is_there(tmp_path: Path) -> None:
    corpus(tmp_path, train_en="x", train_de="y")
    with pytest.raises(CorpusError, match=r"there is no corpus .*(\n.*)*train\.de, train\.en"):
        open_corpus([tmp_path / "trian"], READING)


@pytest.mark.parametrize("name", [".", "/", "", "..", "no/such/folder/train"])
def test_names_that_cannot_be_a_corpus_are_refused(name: str) -> None:
    with pytest.raises(CorpusError, match="there is no corpus"):
        open_corpus([name], READING)


def test_a_language_code_that_is_a_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="there is no corpus"):
        open_corpus([tmp_path / "train"], Reading(source="../en", target="de"))


def test_whoever_names_one_file_of_two_is_told_the_prefix(tmp_path: Path) -> None:
    corpus(tmp_path, train_en="x", train_de="y")
    with pytest.raises(CorpusError) as caught:
        open_corpus([tmp_path / "train.de"], READING)
    assert str(caught.value).endswith(f"{tmp_path}/train")


def test_an_unknown_kind_of_file_lists_the_known_ones(tmp_path: Path) -> None:
    corpus(tmp_path, table_xlsx="x")
    with pytest.raises(CorpusError, match=r"Readable: .*\.tsv.*\.jsonl"):
        open_corpus([tmp_path / "table.xlsx"], READING)
