"""Writing so that a kill at any moment leaves either the old file or the new one, never half of one."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tongsa.base.errors import WriteError


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write beside the file, flush to the disk, then take its place."""
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file() and not path.is_dir():
        _write_into(path, data)
        return
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def _write_into(path: Path, data: bytes) -> None:
    """Devices and pipes (/dev/stdout) are written to, never replaced."""
    try:
        path.write_bytes(data)
    except OSError as error:
        raise cannot_write(path, error) from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write a file or directory to; it takes the place of `path` when the block ends well.

    A directory that is there already is moved aside first, since directories cannot be swapped in one step: whoever
    reads it must cope with its absence, as one does with a cache.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove(temporary)  # of a process with this number that was killed
        yield temporary
        _flush(temporary)
        if path.is_dir() and temporary.is_dir():  # a file never takes the place of somebody's directory
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
        _sync(path.parent)  # the name, and nothing of what else is there: a neighbour may be a pipe or somebody else's
    except OSError as error:
        raise cannot_write(path, error, "What was there before is untouched.") from error
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
        with suppress(OSError):  # the error that brought us here tells more
            path.unlink()


def _advice(error: OSError) -> list[str]:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return ["The disk is full: make room, then run the same command again (with --resume for a training)."]
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return ["This user may not write there."]
    return []
