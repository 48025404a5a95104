"""Either the old file or the new one, never half of one, and never anybody else's."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tongsa.base.errors import WriteError
from tongsa.base.files import replacing, write_atomically


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _half_a_file(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("half of the n")
    raise ValueError("in the middle")


def test_text_and_bytes_are_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file"
    write_atomically(path, "통사\n")
    assert path.read_bytes() == "통사\n".encode()
    write_atomically(path, b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert names(path.parent) == ["file"]


def test_an_error_while_writing_leaves_the_old_content_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, "old")
    with pytest.raises(ValueError, match="in the middle"), replacing(path) as temporary:
        _half_a_file(temporary)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_a_directory_is_replaced_as_a_whole(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    for content in ("one", "two"):
        with replacing(folder) as temporary:
            temporary.mkdir()
            (temporary / content).write_text(content)
        assert names(folder) == [content]
    with pytest.raises(ValueError, match="in the middle"), replacing(folder) as temporary:
        _half_a_file(temporary / "three")
    assert names(folder) == ["two"]
    assert names(tmp_path) == ["data"]


def test_a_file_never_takes_the_place_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "thesis.txt").write_text("three years of work")
    with pytest.raises(WriteError, match="results cannot be written: Is a directory"):
        write_atomically(tmp_path / "results", "scores")
    assert (tmp_path / "results" / "thesis.txt").read_text() == "three years of work"
    assert names(tmp_path) == ["results"]


def test_pipes_and_devices_are_written_to_and_stay(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, "through the pipe")
    reader.join(timeout=600)
    assert found == [b"through the pipe"]
    assert pipe.is_fifo()
    with pytest.raises(WriteError, match="No space left on device") as caught:
        write_atomically(Path("/dev/full"), "text")
    assert "disk is full" in str(caught.value)


def test_a_path_below_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(WriteError, match=r"file/below cannot be written: (File exists|Not a directory)"):
        write_atomically(tmp_path / "file" / "below", "text")


def test_leftovers_of_a_killed_process_with_the_same_number_do_no_harm(tmp_path: Path) -> None:
    leftover = tmp_path / f".data.{os.getpid()}.tmp"
    leftover.mkdir()
    (leftover / "half").write_text("half")
    with replacing(tmp_path / "data") as temporary:
        temporary.mkdir()
        (temporary / "whole").write_text("whole")
    assert names(tmp_path / "data") == ["whole"]
    assert names(tmp_path) == ["data"]


def test_a_disk_that_fills_up_leaves_the_old_file_and_advice(tmp_path: Path) -> None:
    """The kernel itself refuses the bytes: a limit on the size of files, in a process of its own."""
    path = tmp_path / "weights"
    write_atomically(path, b"old")

    def at_most_64_kib() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

    code = "import sys; from pathlib import Path; from tongsa.base.files import write_atomically\n"
    code += "write_atomically(Path(sys.argv[1]), b'x' * (1 << 20))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], preexec_fn=at_most_64_kib, capture_output=True, text=True, check=False
    )
    assert "WriteError" in done.stderr
    assert "File too large" in done.stderr
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["weights"]


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EDQUOT, "free some space"),
        (errno.EACCES, "do not have permission"),
        (errno.EIO, "unchanged"),
    ],
)
def test_what_the_system_refuses_is_explained(tmp_path: Path, number: int, advice: str) -> None:
    with pytest.raises(WriteError) as caught, replacing(tmp_path / "file"):
        raise OSError(number, os.strerror(number))
    assert os.strerror(number) in str(caught.value)
    assert advice in str(caught.value)
    assert names(tmp_path) == []


def test_neighbours_of_a_written_file_are_left_alone(tmp_path: Path) -> None:
    """A named pipe beside it would hold up whoever opens it for reading."""
    os.mkfifo(tmp_path / "pipe")
    write_atomically(tmp_path / "file", "text")
    assert (tmp_path / "file").read_text() == "text"
