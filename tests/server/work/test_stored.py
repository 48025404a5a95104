"""Glossaries and files that the service stores."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
from tests.server.in_process import asked, serving
from tests.server.running import in_a_loop

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
    name = in_a_loop(files.store(b"data", ".txt"))
    assert files.find(name).read_bytes() == b"data"
    assert oct(files.folder.stat().st_mode)[-3:] == "700"
    files.seconds = -1
    other = in_a_loop(files.store(b"data", ".txt"))
    with pytest.raises(Refusal):
        files.find(other)
    assert [path.name for path in files.folder.iterdir()] == [name]
    files.close()
    assert not files.folder.exists()


def test_suggestions_are_kept_up_to_a_limit(tmp_path: Path) -> None:
    def suggest(better: str) -> int:
        return client.post("/suggest", json=asked("words", s=better)).status_code

    kept = tmp_path / "suggestions.jsonl"
    with serving(tmp_path, "suggestions=200", data=tmp_path) as client:
        assert [suggest("Worte") for _ in range(4)] == [200, 200, 200, 456]
        assert kept.stat().st_size <= 200
        assert [json.loads(line)["s"] for line in kept.read_text().splitlines()] == ["Worte"] * 3
        kept.write_text(kept.read_text() + '{"q": "cut by a ki')
    with serving(tmp_path, "suggestions=300", data=tmp_path) as client:
        assert suggest("Wörter") == 200
        assert json.loads(kept.read_text(encoding="utf-8").splitlines()[-1])["s"] == "Wörter"
        kept.unlink()
        kept.mkdir()
        assert suggest("Worte") == 503


def test_a_full_disk_is_told_and_leaves_no_half_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    files = Files(seconds=100)
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(Refusal, match="no room") as caught:
        in_a_loop(files.store(b"data", ".txt"))
    assert caught.value.status == 503
    assert list(files.folder.iterdir()) == []
    files.close()
