"""Documents that are zip archives: read into memory within limits, written back part by part.

Nothing is unpacked to disk, so names in the archive cannot escape a folder.
"""

from __future__ import annotations

import io
import lzma
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tongsa.base.errors import CorpusError
from tongsa.formats.xml_tree import TagLimit, parse

MOST_PARTS = 10_000
LARGEST = 512 << 20
"""Largest total size of the unpacked parts, in bytes."""
LARGEST_TEXT = 64 << 20
"""Largest total size of the parts that are parsed, in bytes; a document of 5,000 pages has less."""
RATIO = 200
"""A part or archive of more than a megabyte with a higher compression ratio is a bomb: real text reaches 10 to 30."""
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, ValueError, NotImplementedError, OSError)


class Archive:
    """The parts of a zip file by name."""

    def __init__(self, data: bytes, path: Path) -> None:
        self.data, self.path = data, path
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (struct.error, *_DAMAGE) as error:
            raise CorpusError(
                f"{path} cannot be opened as a zip archive: {error}", "It may have been cut short."
            ) from error
        self._check()

    def _check(self) -> None:
        parts = self._zip.infolist()
        total = sum(part.file_size for part in parts)
        problem = ""
        if len(parts) > MOST_PARTS:
            problem = f"{len(parts):,} parts"
        elif total > LARGEST:
            problem = f"{total >> 20:,} MB when unpacked"
        elif bombs := [part for part in parts if _is_bomb(part.file_size, part.compress_size)]:
            problem = f"a part that unpacks to {bombs[0].file_size // max(1, bombs[0].compress_size):,} times its size"
        elif _is_bomb(total, len(self.data)):
            problem = f"parts that unpack to {total // len(self.data):,} times its size"
        elif any(part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for part in parts):
            problem = "parts that are packed in a way that documents are not"
        elif any(part.flag_bits & 1 for part in parts):
            problem = "parts under a password"
        elif len({part.filename for part in parts}) < len(parts):
            problem = "two parts of the same name"
        if problem:
            raise CorpusError(f"{self.path} is refused: it has {problem}")

    @property
    def names(self) -> list[str]:
        return self._zip.namelist()

    def parse(self, names: Iterable[str]) -> dict[str, Any]:
        """Parse parts, which share the limits of one document."""
        names = list(names)
        if sum(self._zip.getinfo(name).file_size for name in names) > LARGEST_TEXT:
            raise CorpusError(f"{self.path} is refused: its text has more than {LARGEST_TEXT >> 20} MB")
        limit = TagLimit()
        return {name: parse(self.read(name), f"{self.path}, {name}", limit) for name in names}

    def read(self, name: str) -> bytes:
        try:
            return self._zip.read(name)
        except _DAMAGE as error:
            raise CorpusError(f"{self.path}: {name} is damaged: {error}") from error

    def replaced(self, new: Mapping[str, bytes]) -> bytes:
        """Write the archive with some parts replaced; order, times and compression methods stay."""
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w") as archive:
            for part in self._zip.infolist():
                info = zipfile.ZipInfo(part.filename, part.date_time)
                info.compress_type = part.compress_type
                info.external_attr, info.create_system = part.external_attr, part.create_system
                if part.filename in new:
                    archive.writestr(info, new[part.filename])
                else:
                    info.file_size = part.file_size
                    self._copy(part.filename, archive, info)
        return written.getvalue()

    def _copy(self, name: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        """Copy a part piece by piece: a picture may unpack to much."""
        try:
            with self._zip.open(name) as part, archive.open(info, "w") as copied:
                shutil.copyfileobj(part, copied)
        except _DAMAGE as error:
            raise CorpusError(f"{self.path}: {name} is damaged: {error}") from error


def _is_bomb(size: int, packed: int) -> bool:
    return size > 1 << 20 and size > RATIO * max(1, packed)
