"""Where a translated document is written, and documents that cannot be read at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import Fake, FakeCard, upper

from tongsa.base.errors import CorpusError, UsageError
from tongsa.documents import translate_document
from tongsa.formats import plain


def test_a_document_is_not_written_over_itself_unasked(tmp_path: Path) -> None:
    """From a language into itself, the default name is that of the source."""
    source = tmp_path / "manual.en.txt"
    source.write_text("some words")
    same = Fake(str.upper, FakeCard(source="en", target="en"))
    with pytest.raises(UsageError, match="would be written over it"):
        translate_document(same, source)
    assert source.read_text() == "some words"
    assert translate_document(same, source, tmp_path / "other.txt").target.read_text() == "SOME WORDS"
    assert translate_document(same, source, source).target.read_text() == "SOME WORDS"


@pytest.mark.parametrize(
    ("failure", "message"), [(RecursionError, "nested too deeply"), (MemoryError, "takes more memory than there is")]
)
def test_a_document_that_exhausts_the_machine_is_a_clear_error(
    tmp_path: Path, failure: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> object:
        raise failure

    source = tmp_path / "manual.txt"
    source.write_text("some words")
    monkeypatch.setattr(plain, "open_document", fail)
    with pytest.raises(CorpusError, match=message):
        translate_document(upper(), source)
    assert not (tmp_path / "manual.de.txt").exists()
