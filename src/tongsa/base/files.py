"""Atomic writes: after a kill, a fault or a power loss the old file or the new one remains, never half of one.

A temporary file beside the target is written, flushed to the disk and renamed over the target; then the directory is
flushed, because the rename is an entry in it. Three kinds of targets are not replaced:

    a link                      what it points to is replaced; the link stays
    a device, pipe or socket    is written into
    - /dev/stdout /dev/fd/N     the finished content is copied to the open descriptor
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from tongsa.base.errors import WriteError

_LONGEST_NAME = 200
"""Bytes of a name that leave room for the ending of the temporary name; file systems allow 255."""
_MOST_LINKS = 40
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP)
"""Errors of file systems that cannot flush a directory: there is nothing to be done about it."""


class _Rename(NamedTuple):
    """A complete temporary file that is to replace a target; `path` is the user's name of it."""

    temporary: Path
    target: Path
    path: Path


_waiting: ContextVar[list[_Rename] | None] = ContextVar("_waiting", default=None)
"""Renames that the end of a `replacing_together` block will do; None outside of one."""


def write_atomically(path: Path, content: bytes | str) -> None:
    """Replace a file by new content; devices, pipes and standard output are written to instead."""
    with replacing(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write a file or directory to; it replaces `path` if the block succeeds.

    Where the system cannot exchange two directories in one step, an existing one is moved aside first: for a moment
    there is none, so readers must treat a missing directory as an empty cache.
    """
    target = destination(path)
    number = descriptor_of(target)
    if number is not None:
        with _copied_to(number, path) as temporary:
            yield temporary
    elif is_special(target):
        try:
            yield target
        except OSError as error:
            raise cannot_write(path, error) from error
    else:
        with _replaced(target, path) as temporary:
            yield temporary


@contextmanager
def replacing_together() -> Iterator[None]:
    """All files that are replaced within the block get their names at its end: all of them, or after a fault none.

    After a kill between the renames files may be missing (the earlier ones are beside, hidden, ending in .old), but old
    ones never stand beside new ones: two aligned files are of one run.
    """
    if _waiting.get() is not None:  # the outer block does it
        yield
        return
    renames: list[_Rename] = []
    token = _waiting.set(renames)
    try:
        try:
            yield
        finally:
            _waiting.reset(token)
        _rename_all(renames)
    finally:
        for each in renames:
            _remove(each.temporary)


def destination(path: Path) -> Path:
    """Follow links to the path that is to be written, which need not exist."""
    target = path
    try:
        for _ in range(_MOST_LINKS):
            if descriptor_of(target) is not None or not target.is_symlink():
                break
            target = target.parent / target.readlink()
        else:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        full = target != path and target.is_dir() and any(target.iterdir())
    except OSError as error:
        raise cannot_write(path, error) from error
    if full:
        raise WriteError(
            f"{path} cannot be written: it is a link to the directory {target}, which is not empty",
            "Remove the link, or empty the directory.",
        )
    return target


def descriptor_of(path: Path) -> int | None:
    """Return the open descriptor that a path stands for: 1 for `-` and /dev/stdout."""
    known = {"-": 1, "/dev/stdout": 1, "/dev/stderr": 2}.get(str(path))
    found = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d{1,9})", str(path))
    return int(found.group(1)) if found else known


def is_special(path: Path) -> bool:
    """Return True for an existing device, pipe or socket."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def make_directory(path: Path) -> None:
    """Create a directory and its parents, flushed to the disk, if they are missing."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for each in missing:
        sync(each.parent)


def remove_durably(path: Path) -> None:
    """Remove a file if it exists, and flush that to the disk."""
    try:
        if path.exists():
            path.unlink()
            sync(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error


def sync(path: Path) -> None:
    """Flush a file, or the entries of a directory, to the disk."""
    folder = path.is_dir()
    if folder and os.name == "nt":  # Windows does not open directories, and keeps their entries by a journal
        return
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if not folder or error.errno not in _NO_SYNC:
            raise
    finally:
        os.close(descriptor)


def rename_over(temporary: Path, target: Path) -> None:
    """Give a complete, flushed file or directory its final name; an earlier one is replaced."""
    if target.is_dir() and temporary.is_dir():  # a file never replaces a directory
        if _exchange(temporary, target):
            sync(target.parent)  # before the old one, now under the temporary name, is removed
            _remove(temporary)
        else:
            _move_aside(temporary, target)
        return
    if target.is_file():
        _copy_permissions(target, temporary)
    temporary.replace(target)


@contextmanager
def system_errors() -> Iterator[None]:
    """Raise the OSError that libraries written in Rust, as safetensors, hide in an exception of their own."""
    try:
        yield
    except Exception as error:
        number = re.search(r"os error (\d+)", str(error))
        if not number or isinstance(error, OSError | WriteError):
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from error


def cannot_write(path: Path, error: OSError, *more: str) -> WriteError:
    return WriteError(f"{path} cannot be written: {error.strerror or error}", *_advice(error), *more)


@contextmanager
def _replaced(target: Path, path: Path) -> Iterator[Path]:
    """Yield a temporary path beside the target; `path` is the user's name of it, for errors."""
    temporary = _sibling(target, "tmp")
    waiting = _waiting.get()
    try:
        make_directory(target.parent)
        _remove(temporary)  # left by a killed process with the same id
        yield temporary
        _flush(temporary)
        if waiting is None:
            rename_over(temporary, target)
    except BaseException as error:
        _remove(temporary)
        if isinstance(error, OSError):
            raise cannot_write(path, error, "The previous content is unchanged.") from error
        raise
    if waiting is None:
        _sync_entries(target.parent, path)
    else:
        waiting.append(_Rename(temporary, target, path))


def _rename_all(renames: list[_Rename]) -> None:
    aside = {each.target: _sibling(each.target, "old") for each in renames if each.target.exists()}
    if len(renames) == 1:
        aside = {}
    moved: list[Path] = []
    named: list[Path] = []
    try:
        for target, place in aside.items():
            if target.is_dir():
                raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
            _remove(place)
            target.rename(place)
            moved.append(target)
        for folder in {target.parent for target in aside}:
            sync(folder)  # before a new file has its name
        for each in renames:
            if each.target in aside:
                _copy_permissions(aside[each.target], each.temporary)
            rename_over(each.temporary, each.target)
            named.append(each.target)
    except OSError as error:
        for target in named if aside else ():
            _remove(target)
        for target in moved:
            with suppress(OSError):  # it stays beside
                aside[target].rename(target)
        raise cannot_write(renames[len(named)].path, error, "The previous content is unchanged.") from error
    try:
        for folder, path in {each.target.parent: each.path for each in renames}.items():
            _sync_entries(folder, path)
    finally:
        for place in aside.values():
            _remove(place)


def _sync_entries(folder: Path, path: Path) -> None:
    try:
        sync(folder)  # only the directory's entries; other files there may be pipes or belong to someone else
    except OSError as error:
        raise cannot_write(path, error, "It was written, but a loss of power may still undo that.") from error


def _move_aside(temporary: Path, target: Path) -> None:
    """Replace a directory in two steps, where the system cannot do it in one: for a moment there is none."""
    aside = _sibling(target, "old")
    _remove(aside)
    target.rename(aside)
    try:
        temporary.rename(target)
    except OSError:
        aside.rename(target)
        raise
    sync(target.parent)
    _remove(aside)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange the names of two directories in one step; return False if this system cannot."""
    if sys.platform != "linux":
        return False
    import ctypes

    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename is not None and rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0


@contextmanager
def _copied_to(number: int, path: Path) -> Iterator[Path]:
    """Yield a temporary file that is copied to an open descriptor: opening it by name would truncate its file."""
    try:
        with tempfile.TemporaryDirectory(prefix="tongsa-") as folder:
            temporary = Path(folder) / "output"
            yield temporary
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
            with temporary.open("rb") as file, os.fdopen(os.dup(number), "wb") as output:
                shutil.copyfileobj(file, output)
    except BrokenPipeError:  # the reader has seen enough; the command line ends quietly
        raise
    except OSError as error:
        raise cannot_write(path, error) from error


def _sibling(path: Path, ending: str) -> Path:
    """Return a hidden temporary name in the same directory, for this process alone."""
    name = path.name
    if len(os.fsencode(name)) > _LONGEST_NAME:
        name = hashlib.blake2b(os.fsencode(name), digest_size=16).hexdigest()
    return path.with_name(f".{name}.{os.getpid()}.{ending}")


def _copy_permissions(source: Path, target: Path) -> None:
    with suppress(OSError):  # some file systems have none
        target.chmod(stat.S_IMODE(source.stat().st_mode))


def _flush(path: Path) -> None:
    for folder, _, names in os.walk(path):
        for name in names:
            sync(Path(folder) / name)
        sync(Path(folder))
    if not path.is_dir():
        sync(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):  # the original error is more informative
            path.unlink()


def _advice(error: OSError) -> list[str]:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return ["The disk is full: free some space, then run the same command again (for a training: tongsa resume)."]
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return ["You do not have permission to write there."]
    return []
