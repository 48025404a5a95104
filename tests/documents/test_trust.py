"""Glossary, memory, confidence and the review file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fakes import Fake, upper

from tongsa.base.errors import UsageError
from tongsa.cli.document import DocumentOptions, translate_files
from tongsa.documents.memory import Memory
from tongsa.evaluation.calibration import sentence_quality
from tongsa.formats.segments import Languages
from tongsa.translation.glossary import read_glossary


class Said:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)

    def bar(self, title: str, total: float | None, unit: str, done: float = 0.0):  # type: ignore[no-untyped-def]
        from tongsa.base.progress import Silent

        return Silent().bar(title, total, unit)


def test_a_glossary_line_that_is_no_term_is_an_error_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "terms.tsv").write_text("file\tDatei\nbroken\n")
    with pytest.raises(UsageError, match=r"terms\.tsv, line 2"):
        read_glossary(tmp_path / "terms.tsv", [])


def test_memory_is_read_from_any_corpus(tmp_path: Path) -> None:
    (tmp_path / "memory.tsv").write_text("good morning\tguten Morgen\n")
    memory = Memory.read([tmp_path / "memory.tsv"], Languages(source="en", target="de"))
    assert memory.exact("good  morning") == "guten Morgen"
    assert memory.near("good morning to you all over there") is None
    near = memory.near("good mornings")
    assert near
    assert near.likeness > 0.9


def test_sentence_quality_is_one_for_the_reference_itself() -> None:
    same, other = sentence_quality(["ein Hund", "xyz"], ["ein Hund", "eine Katze"])
    assert same == pytest.approx(1.0)
    assert other < 0.2


def test_documents_on_the_command_line_with_a_review(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Open the file %s now.\n\nGood morning.\n\nAsk Tongsa 12.\n")
    (tmp_path / "b.md").write_text("# good morning\n")
    (tmp_path / "memory.tsv").write_text("Good morning.\tGuten Morgen.\n")
    (tmp_path / "terms.tsv").write_text("file\tAkte\n")
    (tmp_path / "keep.txt").write_text("Tongsa\n")
    said = Said()
    translate_files(
        Fake(lambda text: re.sub(r"%s|[{]\d[}]", "", text).upper().replace("12", "13")),
        [tmp_path / "a.txt", tmp_path / "b.md"],
        DocumentOptions(
            output=tmp_path / "new",
            glossary=tmp_path / "terms.tsv",
            do_not_translate=[tmp_path / "keep.txt"],
            memory=[tmp_path / "memory.tsv"],
            review=[tmp_path / "review.tsv"],
        ),
        said,
    )
    assert (tmp_path / "new" / "a.de.txt").read_text() == "OPEN THE Akte %s NOW.\n\nGuten Morgen.\n\nASK Tongsa 13.\n"
    header, *rows = (tmp_path / "review.tsv").read_text().splitlines()
    assert header.startswith("confidence\tstate\tfile\tplace")
    assert any("numbers differ" in row for row in rows)
    assert "1 from the memory" in said.lines[0]


def test_two_documents_are_never_written_to_one_place(tmp_path: Path) -> None:
    files = [tmp_path / "x" / "a.txt", tmp_path / "y" / "a.txt"]
    with pytest.raises(UsageError, match="two documents"):
        translate_files(upper(), files, DocumentOptions(output=tmp_path / "new"), Said())


def test_a_document_in_place_only_where_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("some words")
    translate_files(upper(), [tmp_path / "a.txt"], DocumentOptions(), Said())
    assert (tmp_path / "a.txt").read_text() == "some words"
    translate_files(upper(), [tmp_path / "a.txt"], DocumentOptions(output=tmp_path / "a.txt"), Said())
    assert (tmp_path / "a.txt").read_text() == "SOME WORDS"
