"""Writing so that a kill at any moment leaves either the old file or the new one, never half of one."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tongsa.errors import WriteError


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write beside the file, flush to the disk, then take its place."""
    data = content.encode() if isinstance(content, str) else content
    with replacing(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write a file or directory to; it takes the place of `path` when the block ends well.

    A directory that is there already is moved aside first, since directories cannot be swapped in one step: whoever
    reads it must cope with its absence, as one does with a cache.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        _flush(temporary)
        if path.is_dir():
            aside = path.with_name(f".{path.name}.{os.getpid()}.old")
            path.rename(aside)
            temporary.rename(path)
            shutil.rmtree(aside)
        else:
            temporary.replace(path)
        _flush(path.parent)
    except OSError as error:
        raise WriteError(
            f"{path} cannot be written: {error.strerror or error}", *_advice(error), "What was there before is untouched."
        ) from error
    finally:
        _remove(temporary)


def _flush(path: Path) -> None:
    for each in [*path.iterdir(), path] if path.is_dir() else [path]:
        descriptor = os.open(each, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _advice(error: OSError) -> list[str]:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return ["The disk is full: make room, then run the same command again (with --resume for a training)."]
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return ["This user may not write there."]
    return []
