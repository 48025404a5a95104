"""Locks on files, held by other processes that end in every way."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tongsa.base import locks
from tongsa.base.errors import LockedError, WriteError
from tongsa.base.locks import locked

HOLD = """
import sys, time
from pathlib import Path
from tongsa.base.locks import locked
with locked(Path(sys.argv[1]), "a test", print):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def refuse(line: str) -> None:
    raise AssertionError(line)


def test_the_second_process_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    lock = tmp_path / "new" / ".lock"
    with holder(lock) as other:
        with pytest.raises(LockedError) as caught, locked(lock, "a training in runs/x", refuse):
            raise AssertionError("both hold it")
        what = rf"another process runs a training in runs/x: process {other.pid} on \S+, since 20\d\d-\d\d-\d\d .*"
        assert re.fullmatch(what, caught.value.what)
        assert f"kill {other.pid}" in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_killed_process_frees_its_lock(tmp_path: Path) -> None:
    lock = tmp_path / ".lock"
    with holder(lock) as other:
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert lock.is_file(), "nobody tidied up"
    with locked(lock, "a test", refuse):
        assert f'"pid": {os.getpid()}' in lock.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be removed there")
def test_a_lock_that_is_released_leaves_nothing_behind(tmp_path: Path) -> None:
    with locked(tmp_path / ".lock", "a test", refuse):
        pass
    assert list(tmp_path.iterdir()) == []


def test_one_process_cannot_hold_a_lock_twice(tmp_path: Path) -> None:
    with locked(tmp_path / ".lock", "a test", refuse):
        with pytest.raises(LockedError, match=str(os.getpid())), locked(tmp_path / ".lock", "a test", refuse):
            raise AssertionError("held twice")
        with locked(tmp_path / ".other", "a test", refuse):
            pass


def test_an_error_in_the_block_releases_the_lock(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path / ".lock", "a test", refuse):
        raise ZeroDivisionError
    with locked(tmp_path / ".lock", "a test", refuse):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_a_forked_process_does_not_keep_its_parents_lock(tmp_path: Path) -> None:
    wait, go = os.pipe()
    with locked(tmp_path / ".lock", "a test", refuse):
        child = os.fork()
        if not child:
            os.close(go)
            os.read(wait, 1)  # until the parent has seen that the lock is free
            os._exit(0)
    try:
        with locked(tmp_path / ".lock", "a test", refuse):
            pass
    finally:
        os.close(go)
        os.waitpid(child, 0)
        os.close(wait)


def test_of_many_that_want_a_lock_one_at_a_time_has_it(tmp_path: Path) -> None:
    """Each release removes the file, while others are opening it."""
    inside: list[int] = []
    times: list[int] = []
    failures: list[str] = []

    def work(number: int) -> None:
        done = 0
        while done < 30:
            try:
                with locked(tmp_path / ".lock", "a test", refuse):
                    inside.append(number)
                    if len(inside) > 1:
                        failures.append(f"{inside} at once")
                    inside.remove(number)
                    done += 1
            except LockedError:
                continue
        times.append(done)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert times == [30] * 4
    assert failures == []


def test_a_file_system_without_locks_is_said_and_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(descriptor: int) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(locks, "_lock", unsupported)
    said: list[str] = []
    with locked(tmp_path / ".lock", "a training in runs/x", said.append):
        pass
    assert len(said) == 1
    assert "without locks (Function not implemented): do not run a training in runs/x twice" in said[0]


@pytest.mark.skipif(sys.platform == "win32", reason="O_NOFOLLOW")
def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / ".lock").symlink_to(tmp_path / "precious")
    with pytest.raises(WriteError, match="cannot be written"), locked(tmp_path / ".lock", "a test", refuse):
        raise AssertionError("followed")
    assert (tmp_path / "precious").read_text() == "mine"
