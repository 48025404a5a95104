"""Checksums: damage on a disk is found and named before anything reads the damaged file.

CRC-32 finds every flipped bit and every run of up to 32 damaged bits, at several GB/s. It protects against accidents,
not against people.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tongsa.base.files import write_atomically

CHECKSUMS = "checksums.json"
BLOCK = 1 << 20
_KEY = "checksum"


class Checksum(NamedTuple):
    bytes: int
    crc32: str

    @classmethod
    def of(cls, path: Path) -> Checksum:
        size = crc = 0
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                size += len(block)
                crc = zlib.crc32(block, crc)
        return cls(size, f"{crc:08x}")


@dataclass(frozen=True)
class Checksums:
    """The checksums of some files of a folder, by their names relative to it."""

    files: Mapping[str, Checksum]

    @classmethod
    def of(cls, folder: Path, paths: Iterable[Path]) -> Checksums:
        return cls({path.relative_to(folder).as_posix(): Checksum.of(path) for path in sorted(paths)})

    def to_json(self) -> str:
        return json.dumps(self.files)

    def write(self, path: Path) -> None:
        write_atomically(path, self.to_json())

    @classmethod
    def read(cls, path: Path) -> Checksums | None:
        """Read a file of checksums; None if there is none, ValueError if it is damaged."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            return cls({name: Checksum(*map(_exactly, (int, str), given)) for name, given in values.items()})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error

    def problem(self, folder: Path, name: str) -> str | None:
        """What is wrong with this file; None if it is as it was written."""
        path = folder / name
        if name not in self.files:
            return f"{path} has no checksum in {CHECKSUMS}"
        try:
            found = Checksum.of(path)
        except FileNotFoundError:
            return f"{path} is missing"
        except OSError as error:
            return f"{path} cannot be read: {error.strerror}"
        written = self.files[name]
        if found.bytes != written.bytes:
            return f"{path} has {found.bytes:,} bytes, but {written.bytes:,} were written"
        if found != written:
            return f"{path} is damaged: its checksum is {found.crc32}, but {written.crc32} was written"
        return None

    def problems(self, folder: Path) -> list[str]:
        """What is wrong with any of the files."""
        found = (self.problem(folder, name) for name in self.files)
        return [problem for problem in found if problem]


def _exactly(kind: type, value: object) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r} is not a checksum")
    return value


def sealed(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a small JSON file, with their checksum."""
    return {**values, _KEY: _of_values(values)}


def unsealed(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values without their checksum, ValueError if it does not match; files of older versions have none."""
    rest = {key: value for key, value in values.items() if key != _KEY}
    if _KEY in values and values[_KEY] != _of_values(rest):
        raise ValueError(f"its checksum is {_of_values(rest)}, but {values[_KEY]} was written")
    return rest


def _of_values(values: Mapping[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(values, sort_keys=True).encode()):08x}"


_LAST_LINE = "# checksum "


def sealed_text(text: str) -> str:
    """A text of lines with its checksum in a comment on the last line."""
    return f"{text}{_LAST_LINE}{zlib.crc32(text.encode()):08x}\n"


def unsealed_text(text: str) -> str:
    """The text without its checksum, ValueError if it does not match; files of older versions have none."""
    body, mark, written = text.rpartition(_LAST_LINE)
    if not mark:
        return text
    found = f"{zlib.crc32(body.encode()):08x}"
    if written.strip() != found:
        raise ValueError(f"its checksum is {found}, but {written.strip()} was written")
    return body
