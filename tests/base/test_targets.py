"""What is written to: links are followed, devices and pipes stay, standard output is not truncated."""

from __future__ import annotations

import gzip
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tongsa.base.errors import WriteError
from tongsa.base.files import destination, make_directory, replacing, write_atomically


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_link_stays_and_what_it_points_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    file, link, far = tmp_path / "disk" / "file", tmp_path / "link", tmp_path / "disk" / "far"
    file.write_text("old")
    link.symlink_to("disk/far")
    far.symlink_to("file")  # relative to its own folder
    write_atomically(link, "new")
    assert file.read_text() == "new"
    assert link.is_symlink()
    assert far.is_symlink()
    assert names(tmp_path / "disk") == ["far", "file"]


def test_a_link_to_nothing_creates_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "later" / "file")
    write_atomically(tmp_path / "link", "text")
    assert (tmp_path / "later" / "file").read_text() == "text"
    assert (tmp_path / "link").is_symlink()


def test_links_in_a_circle_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(WriteError, match="symbolic links"):
        write_atomically(tmp_path / "a", "text")


def test_a_directory_is_written_through_a_link_only_where_it_is_empty(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis").write_text("three years of work")
    (tmp_path / "empty").mkdir()
    for name in ("full", "empty"):
        (tmp_path / f"to-{name}").symlink_to(name)
    with pytest.raises(WriteError, match=r"to-full .* not empty"), replacing(tmp_path / "to-full") as temporary:
        temporary.mkdir()
    with replacing(tmp_path / "to-empty") as temporary:
        temporary.mkdir()
        (temporary / "ids").write_text("1 2 3")
    assert (tmp_path / "full" / "thesis").read_text() == "three years of work"
    assert (tmp_path / "to-empty").is_symlink()
    assert names(tmp_path / "empty") == ["ids"]
    assert names(tmp_path) == ["empty", "full", "to-empty", "to-full"]


def test_a_pipe_is_written_into_by_every_writer(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe.gz", tmp_path / "link.gz"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    with replacing(link) as target, gzip.open(target, "wt", encoding="utf-8") as file:
        file.write("through the pipe")
    reader.join(timeout=600)
    assert gzip.decompress(found[0]) == b"through the pipe"
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert link.is_symlink()
    assert names(tmp_path) == ["link.gz", "pipe.gz"]


def test_an_error_in_the_block_removes_neither_pipe_nor_device(tmp_path: Path, null_device: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, null_device):
        with pytest.raises(ValueError, match="in the middle"), replacing(path):
            raise ValueError("in the middle")
    assert pipe.is_fifo()
    assert null_device.is_char_device()


def test_a_device_is_written_into_and_stays(null_device: Path) -> None:
    write_atomically(null_device, "gone")
    assert null_device.is_char_device()
    assert null_device.read_bytes() == b""


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_standard_output_is_appended_to_where_it_is_a_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to("/dev/stdout")
    code = "import sys; from pathlib import Path; from tongsa.base.files import write_atomically\n"
    code += "print('before'); write_atomically(Path(sys.argv[1]), 'text\\n'); print('after')"
    log = tmp_path / "log"
    log.write_text("of yesterday\n")
    with log.open("ab") as file:
        subprocess.run([sys.executable, "-c", code, name], stdout=file, cwd=tmp_path, check=True)
    assert log.read_text() == "of yesterday\nbefore\ntext\nafter\n"
    assert names(tmp_path) == ["link", "log"]


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o600)
    write_atomically(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_name_of_the_greatest_length_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    write_atomically(path, "text")
    assert names(tmp_path) == [path.name]
    with pytest.raises(WriteError, match="File name too long"):
        write_atomically(tmp_path / ("x" * 256), "text")


def test_new_directories_are_flushed_in_their_parents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: (flushed.append(os.fstat(number).st_ino), fsync(number)))
    make_directory(tmp_path / "a" / "b")
    assert {tmp_path.stat().st_ino, (tmp_path / "a").stat().st_ino} <= set(flushed)


def test_a_path_without_links_is_its_own_destination(tmp_path: Path) -> None:
    assert destination(tmp_path / "x") == tmp_path / "x"
