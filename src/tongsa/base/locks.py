"""Locks on files: two processes never write to the same place at the same time.

The system frees a lock when the process that holds it ends, however it ends, so a lock file that a killed process left
behind locks nothing. On NFS the lock is known to all machines if the mount passes `flock` on (Linux does by default,
unless mounted with `local_lock` or `nolock`).
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tongsa.base.errors import LockedError
from tongsa.base.files import cannot_write

_BUSY = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_FAR = 1 << 30
"""Windows locks bytes, and nobody else can read them: this one lies beyond the text of the file."""

_held: set[int] = set()
"""Descriptors of the locks that this process holds."""


@contextmanager
def locked(path: Path, what: str, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock file `path` for the duration of the block, or raise a LockedError that names the holder.

    what   names what only one process may do, for the error: "a training in runs/en-de"
    say    is told if the file system has no locks; the block is then run without one
    """
    made = [folder for folder in path.parents if not folder.exists()]
    descriptor = _acquire(path, what, say)
    _held.add(descriptor)
    try:
        yield
    finally:
        if sys.platform == "win32":  # an open file cannot be removed there
            _close(descriptor)
        with suppress(OSError):
            path.unlink()
        _close(descriptor)
        for folder in made:  # only if nothing else was written there
            with suppress(OSError):
                folder.rmdir()


def _acquire(path: Path, what: str, say: Callable[[str], None]) -> int:
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
        except OSError as error:
            raise cannot_write(path, error) from error
        try:
            _lock(descriptor)
        except OSError as error:
            if error.errno in _BUSY:
                busy = _locked_error(path, what)
                os.close(descriptor)
                raise busy from error
            say(f"{path.parent} is on a file system without locks ({error.strerror}): do not run {what} twice at once")
        if _is_current(descriptor, path):
            _write_holder(descriptor)
            return descriptor
        os.close(descriptor)  # its last holder removed the file before we locked it


def _lock(descriptor: int) -> None:
    """Lock without waiting."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_current(descriptor: int, path: Path) -> bool:
    """Whether the path still names the file that was opened."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _write_holder(descriptor: int) -> None:
    """Record who holds the lock. Only people read it, so a full disk is no reason to stop."""
    holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": datetime.now(UTC).isoformat(" ", "seconds")}
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, json.dumps(holder).encode())


def _locked_error(path: Path, what: str) -> LockedError:
    try:
        holder: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        pid, host, since = int(holder["pid"]), str(holder["host"]), str(holder["since"])
    except (OSError, ValueError, TypeError, KeyError):  # not written yet
        return LockedError(f"another process runs {what}", "Wait until it ends, or stop it.")
    stop = f"kill {pid}" if host == socket.gethostname() else f"kill {pid}  (on {host})"
    return LockedError(
        f"another process runs {what}: process {pid} on {host}, since {since}",
        f"Wait until it ends, or stop it:  {stop}",
    )


def _close(descriptor: int) -> None:
    if descriptor in _held:
        _held.discard(descriptor)
        os.close(descriptor)


def _close_in_child() -> None:
    """A forked process shares its parent's locks and would keep them if it outlived the parent."""
    for descriptor in list(_held):
        _close(descriptor)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)
