"""Packed files (gzip, xz, bzip2), zip archives and directories.

The path of an archive member continues the path of the archive: `memories.zip/2024/office.tmx.gz`.
Members are read as a stream; nothing is unpacked to the disk.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path, PureWindowsPath
from typing import IO, Any, cast

from tongsa.base.errors import CorpusError

_BUFFER = 1 << 16
XZ_MEMORY = 256 << 20
"""Most memory to unpack .xz, in bytes; `xz -9` needs 65 MB."""


class _Xz(io.RawIOBase):
    """Unpacks .xz within a limit of memory: for lzma.open, a file may ask for a dictionary of 4 GB."""

    def __init__(self, source: Path | IO[bytes]) -> None:
        self._file = source.open("rb") if isinstance(source, Path) else source
        self._unpacker = lzma.LZMADecompressor(memlimit=XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b""
        while not data:
            packed = b""
            if self._unpacker.eof:  # another stream may follow, after zeros
                packed = self._unpacker.unused_data.lstrip(b"\0")
                while not packed:
                    if not (packed := self._file.read(_BUFFER)):
                        return 0
                    packed = packed.lstrip(b"\0")
                self._unpacker = lzma.LZMADecompressor(memlimit=XZ_MEMORY)
            elif self._unpacker.needs_input and not (packed := self._file.read(_BUFFER)):
                raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            data = self._unpacker.decompress(packed, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


PACKED: dict[str, Callable[[Any], object]] = {
    ".gz": gzip.open,
    ".xz": lambda source: io.BufferedReader(_Xz(source), _BUFFER),
    ".bz2": bz2.open,
}
"""Functions that open packed files, by suffix."""


class DamagedFileError(CorpusError):
    """A packed file that is cut short or damaged."""

    def __init__(self, path: Path, reason: object, after: str = "") -> None:
        super().__init__(f"{path} is damaged{after and f' after {after}'}: {reason}")
        self.path, self.reason = path, reason

    def after(self, place: str) -> DamagedFileError:
        """Return the same error with the last place that could be read, such as `line 7`."""
        return DamagedFileError(self.path, self.reason, place)


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file or an archive member as a stream of bytes, unpacked according to its suffix."""
    try:
        inner, member = _archive_and_member(path)
        packed = PACKED.get(path.suffix.lower())
        if not member:
            return _reader(path, packed(path)) if packed else path.open("rb")
        if _archive(inner).getinfo(member).compress_type == zipfile.ZIP_LZMA:  # it has no limit of memory
            raise NotImplementedError("LZMA")
        file = _archive(inner).open(member)
        return _reader(path, packed(file) if packed else file)
    except KeyError as error:
        raise CorpusError(f"{path} is not in the archive") from error
    except NotImplementedError as error:
        raise CorpusError(f"{path} is packed in a way that cannot be read: {error}") from error
    except RuntimeError as error:  # zipfile raises this for a password
        raise CorpusError(f"{path} cannot be read: it is encrypted") from error
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror or error}") from error
    except _DAMAGE as error:
        raise DamagedFileError(path, error) from error


_DAMAGE = (EOFError, ValueError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, struct.error)
"""Exceptions of Python's readers for a damaged file, besides OSError. MemoryError is handled apart."""


def _reader(path: Path, file: object) -> IO[bytes]:
    return cast(IO[bytes], io.BufferedReader(_Unpacked(path, cast(IO[bytes], file)), _BUFFER))


class _Unpacked(io.RawIOBase):
    """The bytes of a packed file; every kind of damage is one kind of error, with the name of the file."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read(len(buffer))
        except (OSError, NotImplementedError, *_DAMAGE) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise CorpusError(f"{self._path} cannot be read: {error.strerror}") from error
            raise DamagedFileError(self._path, error) from error
        except MemoryError as error:
            raise DamagedFileError(self._path, "unpacking it takes more memory than there is") from error
        buffer[: len(data)] = data
        return len(data)

    def seekable(self) -> bool:
        return self._file.seekable()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        try:
            return self._file.seek(offset, whence)
        except (OSError, *_DAMAGE) as error:
            raise DamagedFileError(self._path, error) from error

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self._file.close()
        super().close()


def is_there(path: Path) -> bool:
    """Return True if a regular file or an archive member has this path."""
    if is_file(path):
        return True
    inner, member = _archive_and_member(path)
    return bool(member) and member in _members(inner)


def is_file(path: Path) -> bool:
    """Return True for a regular file. A name that is too long for this system is not one."""
    try:
        return path.is_file()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise CorpusError(f"{path} cannot be read: {error.strerror or error}") from error


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
        if parent.suffix.lower() == ".zip" and is_file(parent):
            return parent, path.relative_to(parent).as_posix()
    return path, ""


def _archive(path: Path) -> zipfile.ZipFile:
    return _opened(path, *_version(path))[0]


def _members(path: Path) -> dict[str, None]:
    """Return the names of the files in an archive, sorted."""
    return _opened(path, *_version(path))[1]


def _version(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=4)
def _opened(path: Path, modified: int, size: int) -> tuple[zipfile.ZipFile, dict[str, None]]:
    """Cache the table of contents of an archive, so that it is read once; a changed file is opened again."""
    try:
        archive = zipfile.ZipFile(path)
    except (NotImplementedError, *_DAMAGE) as error:
        raise CorpusError(f"{path} is not a zip archive, or is damaged: {error}") from error
    names = sorted(info.filename for info in archive.infolist() if not info.filename.endswith("/"))
    for name in names:
        if _leaves_the_archive(name):
            archive.close()
            raise CorpusError(
                f"{path} is refused: the name of its member {name[:80]!r} is a path outside of the archive",
                "Pack the files again, with names relative to one folder.",
            )
    return archive, dict.fromkeys(names)


def _leaves_the_archive(name: str) -> bool:
    """Return True for names that a path cannot be continued with: absolute ones, drives, `..`, none."""
    windows = PureWindowsPath(name)
    return not windows.parts or bool(windows.drive or windows.root) or ".." in windows.parts
