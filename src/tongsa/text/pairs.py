"""Pairs of sentences, and the reader that each kind of file has.

A corpus is named on the command line by a file (`data/train.tsv`) or by the prefix of two aligned ones
(`data/train` for `data/train.en` and `data/train.de`). A new format is one function and one line in READERS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tongsa.errors import CorpusError


class Place(NamedTuple):
    """Where a pair stands: the file, and the line or the unit in it."""

    file: Path
    line: int | str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line:,}" if isinstance(self.line, int) else f"{self.file}, {self.line}"


class Pair(NamedTuple):
    source: str
    target: str
    where: Place


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a reader needs besides the path."""

    source: str
    """Code of the source language, as in the file's name or its columns."""
    target: str
    encoding: str = "utf-8"


Reader = Callable[[Path, Reading], Iterator[Pair]]


@dataclass(frozen=True)
class Corpus:
    """Files of pairs, read anew each time it is iterated: never held in memory."""

    parts: tuple[tuple[Path, Reader], ...]
    reading: Reading

    def __iter__(self) -> Iterator[Pair]:
        for path, reader in self.parts:
            yield from reader(path, self.reading)

    @property
    def name(self) -> str:
        return ", ".join(str(path) for path, _ in self.parts)


def open_corpus(names: Sequence[str | Path], reading: Reading) -> Corpus:
    """Find the reader of each name; a name that is no corpus is an error that says what was looked for."""
    return Corpus(tuple((Path(name), _reader(Path(name), reading)) for name in names), reading)


def _reader(path: Path, reading: Reading) -> Reader:
    from tongsa.text.jsonl import read_jsonl
    from tongsa.text.plain import aligned_files, read_aligned
    from tongsa.text.tsv import read_tsv

    readers: dict[str, Reader] = {
        ".tsv": read_tsv,
        ".jsonl": read_jsonl,
    }
    if all(aligned_files(path, reading)):
        return read_aligned
    if path.is_file():
        suffixes = [suffix for suffix in path.suffixes if suffix not in (".gz", ".xz")]
        if suffixes and suffixes[-1] in readers:
            return readers[suffixes[-1]]
        raise CorpusError(
            f"{path} is of no kind that can be read",
            f"Readable: {', '.join(readers)} (also .gz, .xz), or the prefix of two aligned files.",
            *_prefix_meant(path, reading),
        )
    raise CorpusError(f"there is no corpus {path}", *_what_was_looked_for(path, reading))


def _prefix_meant(path: Path, reading: Reading) -> list[str]:
    """For those who name one of the two files instead of what both begin with."""
    from tongsa.text.plain import aligned_files

    name = path.name.removesuffix(".gz").removesuffix(".xz")
    for language in (reading.source, reading.target):
        prefix = path.with_name(name.removesuffix(f".{language}") or name)
        if prefix.name != name and all(aligned_files(prefix, reading)):
            return [f"Name both files by what they share:  {prefix}"]
    return []


def _what_was_looked_for(path: Path, reading: Reading) -> list[str]:
    from tongsa.text.plain import aligned_files

    found = dict(zip((reading.source, reading.target), aligned_files(path, reading), strict=True))
    present = [str(file) for file in found.values() if file]
    if present:
        missing = [language for language, file in found.items() if not file]
        return [f"{present[0]} is there, but {path}.{missing[0]} is not: both languages are needed."]
    lines = [f"Neither {path}.{reading.source} and {path}.{reading.target} nor a file {path} exists."]
    folder = path if path.is_dir() else path.parent
    if folder.is_dir():
        near = sorted({file.name for file in folder.iterdir() if file.is_file()})[:8]
        lines.append(f"In {folder} there are: {', '.join(near) or 'no files'}")
    return lines
