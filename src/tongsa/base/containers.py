"""Packed files (gzip, xz, bzip2), zip archives and directories.

The path of an archive member continues the path of the archive: `memories.zip/2024/office.tmx.gz`.
Members are read as a stream; nothing is unpacked to the disk.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, cast

from tongsa.base.errors import CorpusError

PACKED: dict[str, Callable[[Any], object]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
"""Functions that open packed files, by suffix."""
DAMAGE = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, zipfile.BadZipFile)
"""Exceptions raised when a packed file is truncated or damaged."""


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file or an archive member as a stream of bytes, unpacked according to its suffix."""
    try:
        inner, member = _archive_and_member(path)
        packed = PACKED.get(path.suffix.lower())
        if not member:
            return cast(IO[bytes], packed(path)) if packed else path.open("rb")
        file = _archive(inner).open(member)
        return cast(IO[bytes], packed(file)) if packed else file
    except KeyError as error:
        raise CorpusError(f"{path} is not in the archive") from error
    except RuntimeError as error:  # zipfile raises this for a password
        raise CorpusError(f"{path} cannot be read: it is encrypted") from error
    except zipfile.BadZipFile as error:
        raise CorpusError(f"{path} is not a zip archive, or is damaged: {error}") from error
    except NotImplementedError as error:
        raise CorpusError(f"{path} is packed in a way that cannot be read: {error}") from error
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror or error}") from error


def is_there(path: Path) -> bool:
    """Return True if a file or an archive member has this path."""
    if path.is_file():
        return True
    inner, member = _archive_and_member(path)
    return bool(member) and member in _members(inner)


def files_in(folder: Path) -> list[Path]:
    """List the files of a directory or zip archive recursively, sorted; hidden files are skipped."""
    if folder.is_dir():
        found = []
        for parent, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            found += [Path(parent) / name for name in sorted(names) if not name.startswith(".")]
        return found
    return [folder / name for name in _members(folder) if not Path(name).name.startswith(".")]


def kind(path: Path) -> str:
    """Return the suffix that determines the format: `.tmx` for `office.TMX.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    while suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _archive_and_member(path: Path) -> tuple[Path, str]:
    for parent in path.parents:
        if parent.suffix.lower() == ".zip" and parent.is_file():
            return parent, path.relative_to(parent).as_posix()
    return path, ""


def _members(path: Path) -> list[str]:
    try:
        return sorted(info.filename for info in _archive(path).infolist() if not info.is_dir())
    except zipfile.BadZipFile as error:
        raise CorpusError(f"{path} is not a zip archive, or is damaged: {error}") from error


def _archive(path: Path) -> zipfile.ZipFile:
    status = path.stat()
    return _opened(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4)
def _opened(path: Path, modified: int, size: int) -> zipfile.ZipFile:
    """Cache the table of contents of an archive, so that it is read once; a changed file is opened again."""
    return zipfile.ZipFile(path)
