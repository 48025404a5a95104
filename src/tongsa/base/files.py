"""Atomic writes: if the process is killed, either the old file or the new one remains, never half of one."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tongsa.base.errors import WriteError


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write a temporary file beside the target, flush it to disk, then rename it over the target."""
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file() and not path.is_dir():
        _write_into(path, data)
        return
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def _write_into(path: Path, data: bytes) -> None:
    """Write to a device or pipe (/dev/stdout), which must not be replaced."""
    try:
        path.write_bytes(data)
    except OSError as error:
        raise cannot_write(path, error) from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write a file or directory to; it replaces `path` if the block succeeds.

    An existing directory is moved aside first, since directories cannot be swapped in one step: for a moment there is
    none, so readers must treat a missing directory as an empty cache.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove(temporary)  # left by a killed process with the same id
        yield temporary
        _flush(temporary)
        if path.is_dir() and temporary.is_dir():  # a file never replaces a directory
            aside = path.with_name(f".{path.name}.{os.getpid()}.old")
            _remove(aside)
            path.rename(aside)
            try:
                temporary.rename(path)
            except OSError:
                aside.rename(path)
                raise
            _remove(aside)
        else:
            temporary.replace(path)
        _sync(path.parent)  # only the directory entry; other files there may be pipes or belong to someone else
    except OSError as error:
        raise cannot_write(path, error, "The previous content is unchanged.") from error
    finally:
        _remove(temporary)


def cannot_write(path: Path, error: OSError, *more: str) -> WriteError:
    return WriteError(f"{path} cannot be written: {error.strerror or error}", *_advice(error), *more)


def _flush(path: Path) -> None:
    for each in [*path.iterdir(), path] if path.is_dir() else [path]:
        _sync(each)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir():
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
