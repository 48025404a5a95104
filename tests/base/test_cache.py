"""The cache of this user: found by key, checked, bounded, and safe to share."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from tongsa.base import cache as module
from tongsa.base.cache import Cache, cache_directory


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TONGSA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "things"


class Writer:
    """Writes a file, and counts how often."""

    def __init__(self, content: str = "content") -> None:
        self.content, self.count = content, 0

    def __call__(self, folder: Path) -> None:
        self.count += 1
        (folder / "file").write_text(self.content)


def test_a_folder_is_made_once_and_is_private(root: Path) -> None:
    write = Writer()
    for _ in range(2):
        found = Cache("things").get("key", write)
        assert (found.path / "file").read_text() == "content"
        assert found.note == ""
    assert write.count == 1
    assert [path.name for path in root.iterdir()] == ["key"]
    assert root.stat().st_mode & 0o777 == root.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["file", "sums.json", "more"])
def test_a_folder_with_other_content_is_made_again(root: Path, name: str) -> None:
    write = Writer()
    folder = Cache("things").get("key", write).path
    (folder / name).write_text("changed")
    assert (Cache("things").get("key", write).path / "file").read_text() == "content"
    assert write.count == 2
    assert not (folder / "more").exists()


def test_a_file_that_became_a_link_is_made_again(root: Path, tmp_path: Path) -> None:
    write = Writer()
    folder = Cache("things").get("key", write).path
    (folder / "file").rename(tmp_path / "file")
    (folder / "file").symlink_to(tmp_path / "file")
    Cache("things").get("key", write)
    assert write.count == 2
    assert not (folder / "file").is_symlink()


def test_what_another_process_made_meanwhile_is_used(root: Path) -> None:
    def slow(folder: Path) -> None:
        (folder / "file").write_text("second")
        Cache("things").get("key", Writer("first"))

    assert (Cache("things").get("key", slow).path / "file").read_text() == "first"
    assert [path.name for path in root.iterdir()] == ["key"]


def test_a_writer_that_fails_leaves_nothing(root: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "file").touch()
        raise KeyError("a bug")

    with pytest.raises(KeyError):
        Cache("things").get("key", fail)
    assert list(root.iterdir()) == []


def test_the_oldest_unused_folders_are_removed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FOLDERS", 2)
    now = time.time()
    for age, key in enumerate("abcd"):
        os.utime(Cache("things").get(key, Writer()).path, (now, now - 10_000 + age))
    (root / ".new-left").mkdir()
    os.utime(root / ".new-left", (now, now - 10_000))
    Cache("things").get("a", Writer())  # used again
    Cache("things").get("e", Writer())
    assert {path.name for path in root.iterdir()} == {"a", "e"}


def test_size_is_bounded_but_what_is_in_use_stays(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 1)
    for key in "ab":
        Cache("things").get(key, Writer())
    assert {path.name for path in root.iterdir()} == {"a", "b"}
    monkeypatch.setattr(module, "UNUSED", -1.0)
    Cache("things").get("c", Writer())
    assert not (root / "a").exists()


def test_a_cache_that_others_may_write_to_is_not_used(root: Path) -> None:
    root.mkdir(parents=True)
    root.chmod(0o777)
    (root / "key").mkdir()
    write = Writer()
    found = Cache("things").get("key", write)
    assert write.count == 1
    assert "others may write to it" in found.note
    assert not found.path.is_relative_to(root)
    assert (found.path / "file").read_text() == "content"


def test_where_no_cache_can_be_made_a_folder_of_the_process_serves(root: Path) -> None:
    root.parent.write_text("a file")
    found = Cache("things").get("key", Writer())
    assert (found.path / "file").read_text() == "content"
    assert "cannot be written" in found.note


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have another place")
def test_the_place_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TONGSA_CACHE", "/elsewhere")
    assert cache_directory() == Path("/elsewhere")
    monkeypatch.delenv("TONGSA_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache_directory() == Path("/caches/tongsa")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_directory() == tmp_path / ".cache" / "tongsa"
