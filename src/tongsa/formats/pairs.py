"""Pairs of sentences, and the reader that each kind of file has.

A corpus is named on the command line by a file (`data/train.tsv`), by the prefix of two aligned ones (`data/train` for
`data/train.en` and `data/train.de`), by a zip archive or a directory, of which everything readable is taken, or by the
name that mtdata knows it by (`mtdata:...`). A new format is one function and one line in the dict of readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tongsa.base.containers import PACKED, files_in, is_there, kind
from tongsa.base.errors import CorpusError
from tongsa.formats.tally import Tally


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
    salvage: bool = False
    """Where a file is damaged, take what comes before that and count it, instead of an error."""
    left_out: Tally = field(default_factory=Tally, compare=False, repr=False)
    """What readers left out in the latest pass: messages that are fuzzy, units without a translation."""


Reader = Callable[[Path, Reading], Iterator[Pair]]


@dataclass(frozen=True)
class Corpus:
    """Files of pairs, read anew each time it is iterated: never held in memory."""

    parts: tuple[tuple[Path, Reader], ...]
    reading: Reading
    unread: tuple[Path, ...] = ()
    """Files of a directory or archive that are of no kind that can be read."""

    def __iter__(self) -> Iterator[Pair]:
        self.reading.left_out.clear()
        for path in self.unread:
            self.reading.left_out.drop("files of no kind that can be read", Place(path, "all of it"))
        for path, reader in self.parts:
            try:
                yield from reader(path, self.reading)
            except CorpusError as error:
                if not self.reading.salvage:
                    raise
                place = error.what.removeprefix(str(path)).lstrip(":, ")
                self.reading.left_out.drop("damaged files from there on", Place(path, place))

    @property
    def left_out(self) -> Tally:
        """What the readers left out in the latest pass."""
        return self.reading.left_out

    @property
    def name(self) -> str:
        return ", ".join(str(path) for path, _ in self.parts)


def open_corpus(names: Sequence[str | Path], reading: Reading) -> Corpus:
    """Find the reader of each name; a name that is no corpus is an error that says what was looked for."""
    parts: list[tuple[Path, Reader]] = []
    unread: list[Path] = []
    for name in names:
        if str(name).startswith("mtdata:"):
            from tongsa.formats.named import fetch

            parts += [(path, _reader(path, reading)) for path in fetch(str(name), reading)]
        elif _holds_files(path := Path(name), reading):
            inner, others = _everything_in(path, reading)
            parts += inner
            unread += others
        else:
            parts.append((path, _reader(path, reading)))
    return Corpus(tuple(parts), reading, tuple(unread))


def readers() -> dict[str, Reader]:
    """The reader of each suffix."""
    from tongsa.formats.csv import read_csv
    from tongsa.formats.jsonl import read_jsonl
    from tongsa.formats.parquet import read_parquet
    from tongsa.formats.po import read_mo, read_po
    from tongsa.formats.tmx import read_tmx
    from tongsa.formats.tsv import read_tsv
    from tongsa.formats.xliff import read_xliff

    return {
        ".tsv": read_tsv,
        ".csv": read_csv,
        ".jsonl": read_jsonl,
        ".parquet": read_parquet,
        ".tmx": read_tmx,
        ".xliff": read_xliff,
        ".xlf": read_xliff,
        ".po": read_po,
        ".mo": read_mo,
    }


def _reader(path: Path, reading: Reading) -> Reader:
    from tongsa.formats.plain import aligned_files, read_aligned

    if all(aligned_files(path, reading)):
        return read_aligned
    if is_there(path):
        known = readers()
        if kind(path) in known:
            return known[kind(path)]
        raise CorpusError(
            f"{path} is of no kind that can be read",
            f"Readable: {', '.join(known)} (also {', '.join(PACKED)}, .zip), the prefix of two aligned files,"
            " a directory.",
            *_prefix_meant(path, reading),
        )
    raise CorpusError(f"there is no corpus {path}", *_what_was_looked_for(path, reading))


def _holds_files(path: Path, reading: Reading) -> bool:
    """A directory or zip archive; `.` and `/` are more likely slips than corpora."""
    from tongsa.formats.plain import aligned_files

    if all(aligned_files(path, reading)):
        return False
    return (path.is_dir() and path.name not in ("", "..")) or (path.suffix.lower() == ".zip" and path.is_file())


def _everything_in(folder: Path, reading: Reading) -> tuple[list[tuple[Path, Reader]], list[Path]]:
    """The readers of all corpora in a directory or archive, and the files that are none."""
    from tongsa.formats.plain import aligned_files, read_aligned

    known = readers()
    parts: dict[Path, Reader] = {}
    halves: set[Path | None] = set()
    others: list[Path] = []
    for path in files_in(folder):
        prefix = _without_language(path, reading)
        if path in halves:
            continue
        if prefix and all(both := aligned_files(prefix, reading)):
            halves.update(both)
            parts[prefix] = read_aligned
        elif kind(path) in known:
            parts[path] = known[kind(path)]
        else:
            others.append(path)
    if not parts:
        raise CorpusError(
            f"there is no corpus in {folder}",
            f"None of its {len(others):,} files is of a kind that can be read, and no two are aligned.",
            *([f"There are: {', '.join(path.name for path in others[:8])}"] if others else []),
        )
    return list(parts.items()), others


def _without_language(path: Path, reading: Reading) -> Path | None:
    """`train` of `train.en.gz`."""
    name = path.name if path.suffix.lower() not in PACKED else path.stem
    for language in (reading.source, reading.target):
        prefix = name.removesuffix(f".{language}")
        if prefix and prefix != name:
            return path.with_name(prefix)
    return None


def _prefix_meant(path: Path, reading: Reading) -> list[str]:
    """For those who name one of the two files instead of what both begin with."""
    from tongsa.formats.plain import aligned_files

    prefix = _without_language(path, reading)
    if prefix and all(aligned_files(prefix, reading)):
        return [f"Name both files by what they share:  {prefix}"]
    return []


def _what_was_looked_for(path: Path, reading: Reading) -> list[str]:
    from tongsa.formats.plain import aligned_files

    found = dict(zip((reading.source, reading.target), aligned_files(path, reading), strict=True))
    present = [str(file) for file in found.values() if file]
    if present:
        missing = [language for language, file in found.items() if not file]
        return [f"{present[0]} is there, but {path}.{missing[0]} is not: both languages are needed."]
    if path.is_dir():
        return [f"Name the directory itself, or the prefix of two files in it. {_files_in(path)}"]
    lines = [f"Neither {path}.{reading.source} and {path}.{reading.target} nor a file {path} exists."]
    return [*lines, _files_in(path.parent)] if path.parent.is_dir() else lines


def _files_in(folder: Path) -> str:
    names = sorted(file.name for file in folder.iterdir() if file.is_file())[:8]
    return f"In {folder} there are: {', '.join(names) or 'no files'}"
