"""Glossaries and files that the service stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from tongsa.server.http.limits import Limits
from tongsa.server.http.refusals import Refusal
from tongsa.server.work.files import Files
from tongsa.server.work.glossaries import Dictionary, Glossaries, StoredGlossary


def test_glossaries_survive_a_restart_and_belong_to_their_owner(tmp_path: Path) -> None:
    first = Glossaries(tmp_path, Limits())
    dictionary = Dictionary(source="ko", target="en", terms={"책": "book"})
    kept = first.add(StoredGlossary(name="words", owner="a", dictionaries=(dictionary,)))
    again = Glossaries(tmp_path, Limits())
    assert again.find(kept.id, "a") == kept
    assert again.of("b") == []
    with pytest.raises(Refusal, match="no such glossary"):
        again.find(kept.id, "b")
    again.remove(kept)
    assert Glossaries(tmp_path, Limits()).of("a") == []


@pytest.mark.parametrize("text", ["", "a", "a\t", "\tb", "a\tb\na\tc", "a\tb\n" * 2, "x" * 2000 + "\ty"])
def test_entries_that_are_no_terms_are_refused(text: str) -> None:
    with pytest.raises(Refusal):
        Glossaries(None, Limits()).terms(text, "tsv")


def test_entries_may_be_csv() -> None:
    assert Glossaries(None, Limits()).terms('"a, b",c\n\nd,e\n', "csv") == {"a, b": "c", "d": "e"}


def test_files_are_gone_when_their_time_is_over() -> None:
    files = Files(seconds=100)
    name = files.store(b"data", ".txt")
    assert files.find(name) == b"data"
    assert oct(files.folder.stat().st_mode)[-3:] == "700"
    files.seconds = -1
    other = files.store(b"data", ".txt")
    with pytest.raises(Refusal):
        files.find(other)
    assert [path.name for path in files.folder.iterdir()] == [name]
    files.close()
    assert not files.folder.exists()
