"""Documents that are zip archives: read into memory within limits, written back part by part.

Nothing is unpacked to disk, so names in the archive cannot escape a folder.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from tongsa.base.errors import CorpusError

MOST_PARTS = 10_000
LARGEST = 512 << 20
"""Largest total size of the unpacked parts, in bytes."""
LARGEST_TEXT = 128 << 20
"""Largest part that is parsed, in bytes."""
RATIO = 200
"""A part larger than a megabyte with a higher compression ratio is a zip bomb: real text reaches 10 to 30."""


class Archive:
    """The parts of a zip file by name."""

    def __init__(self, data: bytes, path: Path) -> None:
        self.data, self.path = data, path
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise CorpusError(
                f"{path} cannot be opened as a zip archive: {error}", "It may have been cut short."
            ) from error
        self._check()

    def _check(self) -> None:
        parts = self._zip.infolist()
        problem = ""
        if len(parts) > MOST_PARTS:
            problem = f"{len(parts):,} parts"
        elif sum(part.file_size for part in parts) > LARGEST:
            problem = f"{sum(part.file_size for part in parts) >> 20:,} MB when unpacked"
        elif bombs := [p for p in parts if p.file_size > 1 << 20 and p.file_size > RATIO * max(1, p.compress_size)]:
            problem = f"a part that unpacks to {bombs[0].file_size // max(1, bombs[0].compress_size):,} times its size"
        elif any(part.flag_bits & 1 for part in parts):
            problem = "parts under a password"
        elif len({part.filename for part in parts}) < len(parts):
            problem = "two parts of the same name"
        if problem:
            raise CorpusError(f"{self.path} is refused: it has {problem}")

    @property
    def names(self) -> list[str]:
        return self._zip.namelist()

    def read(self, name: str) -> bytes:
        if self._zip.getinfo(name).file_size > LARGEST_TEXT:
            raise CorpusError(f"{self.path} is refused: {name} has more than {LARGEST_TEXT >> 20} MB")
        return self._read(name)

    def _read(self, name: str) -> bytes:
        try:
            return self._zip.read(name)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise CorpusError(f"{self.path}: {name} is damaged: {error}") from error

    def replaced(self, new: Mapping[str, bytes]) -> bytes:
        """Write the archive with some parts replaced; order, times and compression methods stay."""
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w") as archive:
            for part in self._zip.infolist():
                info = zipfile.ZipInfo(part.filename, part.date_time)
                info.compress_type = part.compress_type
                info.external_attr, info.create_system = part.external_attr, part.create_system
                archive.writestr(info, new[part.filename] if part.filename in new else self._read(part.filename))
        return written.getvalue()
