"""Files of a directory that may come from a stranger."""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path

import pytest

from tongsa.base.errors import DirectoryError
from tongsa.base.regular import checksum, open_regular, read_json, read_regular, refuse_links, unusual_entries


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "outside").write_text("outside")
    (tmp_path / "run" / "inner").mkdir(parents=True)
    (tmp_path / "run" / "file").write_text("inside")
    return tmp_path / "run"


def test_a_regular_file_is_read(directory: Path) -> None:
    assert read_regular(directory / "file", 6) == b"inside"
    with open_regular(directory / "file") as file:
        assert checksum(file) == hashlib.sha256(b"inside").hexdigest()


def test_the_directory_may_be_reached_through_a_link(directory: Path) -> None:
    (directory.parent / "link").symlink_to(directory)
    assert read_regular(directory.parent / "link" / "file", 6) == b"inside"


def test_a_link_inside_the_directory_is_followed(directory: Path) -> None:
    (directory / "link").symlink_to("file")
    assert read_regular(directory / "link", 6) == b"inside"


@pytest.mark.parametrize("target", ["../outside", "/etc/passwd", "inner/../../outside"])
def test_a_link_out_of_the_directory_is_refused(directory: Path, target: str) -> None:
    (directory / "link").symlink_to(target)
    with pytest.raises(DirectoryError, match=r"link is a link that leads out of .*\n.*cp -rL"):
        open_regular(directory / "link")


def test_links_in_a_circle_are_refused(directory: Path) -> None:
    (directory / "one").symlink_to("two")
    (directory / "two").symlink_to("one")
    with pytest.raises(DirectoryError, match="cannot be read"):
        open_regular(directory / "one")


def test_pipes_devices_sockets_and_directories_are_never_opened(directory: Path) -> None:
    os.mkfifo(directory / "pipe")
    (directory / "to_a_pipe").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(directory / "socket"))
        for name in ("pipe", "to_a_pipe", "socket", "inner"):
            with pytest.raises(DirectoryError, match="is not a regular file"):
                open_regular(directory / name)
    with pytest.raises(DirectoryError, match="is not a regular file"):
        open_regular(Path("/dev/zero"))


def test_a_file_above_its_size_is_refused(directory: Path) -> None:
    with pytest.raises(DirectoryError, match="has 6 bytes; at most 5 are expected"):
        read_regular(directory / "file", 5)


def test_a_missing_file_is_told(directory: Path) -> None:
    with pytest.raises(DirectoryError, match="none is missing"):
        open_regular(directory / "none")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a": ' * 50_000, "1" * 5000, "\ud800"])
def test_damaged_json_is_one_clear_error(directory: Path, text: str) -> None:
    (directory / "file").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(DirectoryError, match="file is damaged"):
        read_json(directory / "file")


def test_all_unusual_entries_are_found(directory: Path) -> None:
    assert list(unusual_entries(directory)) == []
    refuse_links(directory)
    (directory / "inner" / "out").symlink_to("/")
    (directory / "inside").symlink_to("file")
    os.mkfifo(directory / "inner" / "pipe")
    assert sorted(unusual_entries(directory)) == [
        (directory / "inner" / "out", "a link out of the directory"),
        (directory / "inner" / "pipe", "not a regular file"),
        (directory / "inside", "a link inside the directory"),
    ]
    with pytest.raises(DirectoryError, match="only what is inside its own directory"):
        refuse_links(directory)
