"""Pairs of sentences, and corpora of them.

A corpus on the command line is a file (`data/train.tsv`), the prefix of two aligned files (`data/train` for
`data/train.en` and `data/train.de`), a zip archive or a directory, of which all readable files are used, or a corpus of
mtdata (`mtdata:...`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tongsa.base.containers import PACKED, files_in, is_file, is_there, kind
from tongsa.base.errors import CorpusError
from tongsa.formats.registry import ALIGNED, find_format, suffixes_with

if TYPE_CHECKING:
    from tongsa.formats.registry import ReadPairs


class Place(NamedTuple):
    """Location of a pair: the file, and the line or unit in it."""

    file: Path
    line: int | str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line:,}" if isinstance(self.line, int) else f"{self.file}, {self.line}"


EXAMPLES = 3
"""Places stored per reason."""


@dataclass
class Tally:
    """Counts of the pairs read and of those left out by each filter, with the places of the first ones."""

    seen: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[Place]] = field(default_factory=dict)

    @property
    def kept(self) -> int:
        return self.seen - self.dropped.total()

    def drop(self, name: str, where: Place) -> None:
        self.dropped[name] += 1
        examples = self.places.setdefault(name, [])
        if len(examples) < EXAMPLES:
            examples.append(where)

    def clear(self) -> None:
        """Reset all counts for the next pass over the corpus."""
        self.seen = 0
        self.dropped.clear()
        self.places.clear()

    def lines(self) -> list[str]:
        """Describe what was left out, one line per filter."""
        return [
            f"left out {count:,} {name} (first: {'; '.join(map(str, self.places[name]))})"
            for name, count in self.dropped.most_common()
        ]


class Pair(NamedTuple):
    source: str
    target: str
    where: Place


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Options for readers of corpora."""

    source: str
    """Code of the source language, as in the file's name or its columns."""
    target: str
    encoding: str = "utf-8"
    salvage: bool = False
    """Recover what is readable from damaged files and count the rest, instead of failing."""
    left_out: Tally = field(default_factory=Tally, compare=False, repr=False)
    """Counts of what readers left out in the latest pass: fuzzy messages, units without a translation."""


@dataclass(frozen=True)
class Corpus:
    """Files of pairs, read again on each iteration and never held in memory."""

    parts: tuple[tuple[Path, ReadPairs], ...]
    reading: Reading
    names: tuple[str, ...] = ()
    """How the user named the corpus; by default the files."""
    unread: tuple[tuple[Path, str], ...] = ()
    """Files of a directory or archive that are not read, and why."""

    def __iter__(self) -> Iterator[Pair]:
        self.reading.left_out.clear()
        for path, reason in self.unread:
            self.reading.left_out.drop(reason, Place(path, "all of it"))
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
        """Counts of what the readers left out in the latest pass."""
        return self.reading.left_out

    @property
    def name(self) -> str:
        return ", ".join(self.names or (str(path) for path, _ in self.parts))


def open_corpus(names: Sequence[str | Path], reading: Reading) -> Corpus:
    """Find the reader for each name; an error for an unknown name lists what was tried."""
    parts: list[tuple[Path, ReadPairs]] = []
    unread: list[tuple[Path, str]] = []
    for name in names:
        if str(name).startswith("mtdata:"):
            from tongsa.formats.mtdata import fetch

            parts += [(path, _reader(path, reading)) for path in fetch(str(name), reading)]
        elif _holds_files(path := Path(name), reading):
            inner, others = _everything_in(path, reading)
            parts += inner
            unread += others
        else:
            parts.append((path, _reader(path, reading)))
    return Corpus(tuple(parts), reading, tuple(map(str, names)), tuple(unread))


def _reader(path: Path, reading: Reading) -> ReadPairs:
    if all(aligned_files(path, reading)):
        return _read_aligned()
    if is_there(path):
        if read_pairs := _by_suffix(path):
            return read_pairs
        raise CorpusError(
            f"unknown kind of file: {path}",
            f"Readable: {', '.join(suffixes_with('read_pairs'))} (also {', '.join(PACKED)}, .zip),"
            " the prefix of two aligned files,"
            " a directory.",
            *_prefix_meant(path, reading),
        )
    raise CorpusError(f"there is no corpus {path}", *_what_was_looked_for(path, reading))


def _by_suffix(path: Path) -> ReadPairs | None:
    known = find_format(kind(path))
    return known.read_pairs if known else None


def _read_aligned() -> ReadPairs:
    read_pairs = ALIGNED.read_pairs
    assert read_pairs, "its line in the registry says that it reads pairs"
    return read_pairs


def _holds_files(path: Path, reading: Reading) -> bool:
    """Return True for a directory or zip archive, except `.` and `/`, which are probably mistakes."""
    if all(aligned_files(path, reading)):
        return False
    if path.suffix.lower() == ".zip" and is_file(path):
        return True
    return _is_dir(path) and path.name not in ("", "..")


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that is too long, a folder that may not be entered: reading it tells
        return False


def _everything_in(folder: Path, reading: Reading) -> tuple[list[tuple[Path, ReadPairs]], list[tuple[Path, str]]]:
    """Return the readers of all corpora in a directory or archive, and the other files with the reasons."""
    parts: dict[Path, ReadPairs] = {}
    halves: set[Path | None] = set()
    others: list[tuple[Path, str]] = []
    paths = files_in(folder)
    catalogs = {_uncompiled(path) for path in paths if kind(path) == ".po"}
    for path in paths:
        prefix = _without_language(path, reading)
        if path in halves:
            continue
        if prefix and all(both := aligned_files(prefix, reading)):
            halves.update(both)
            parts[prefix] = _read_aligned()
        elif kind(path) == ".mo" and _uncompiled(path) in catalogs:
            others.append((path, "compiled catalogs whose .po is read"))
        elif is_there(path) and (read_pairs := _by_suffix(path)):  # a named pipe is not: it would never end
            parts[path] = read_pairs
        else:
            others.append((path, "files of unknown kind"))
    if not parts:
        raise CorpusError(
            f"there is no corpus in {folder}",
            f"None of its {len(others):,} files is in a known format, and no two are aligned.",
            *([f"There are: {', '.join(path.name for path, _ in others[:8])}"] if others else []),
        )
    return list(parts.items()), others


def _uncompiled(path: Path) -> Path:
    """Return what a catalog and its compiled form share: `de/app` for `de/app.po.gz` and `de/app.mo`."""
    return (path if path.suffix.lower() not in PACKED else path.with_suffix("")).with_suffix("")


def _without_language(path: Path, reading: Reading) -> Path | None:
    """Return the prefix: `train` for `train.en.gz`."""
    name = path.name if path.suffix.lower() not in PACKED else path.stem
    for language in (reading.source, reading.target):
        prefix = name.removesuffix(f".{language}")
        if prefix and prefix != name:
            return path.with_name(prefix)
    return None


def _prefix_meant(path: Path, reading: Reading) -> list[str]:
    """Advice for users who name one of two aligned files instead of their prefix."""
    prefix = _without_language(path, reading)
    if prefix and all(aligned_files(prefix, reading)):
        return [f"Name both files by what they share:  {prefix}"]
    return []


def _what_was_looked_for(path: Path, reading: Reading) -> list[str]:
    found = dict(zip((reading.source, reading.target), aligned_files(path, reading), strict=True))
    present = [str(file) for file in found.values() if file]
    if present:
        missing = [language for language, file in found.items() if not file]
        return [f"{present[0]} is there, but {path}.{missing[0]} is not: both languages are needed."]
    if _is_dir(path):
        return [f"Name the directory itself, or the prefix of two files in it. {_files_in(path)}"]
    if os.path.lexists(path):
        return ["It is neither a regular file nor a directory, and a corpus is read more than once."]
    lines = [f"Neither {path}.{reading.source} and {path}.{reading.target} nor a file {path} exists."]
    return [*lines, _files_in(path.parent)] if _is_dir(path.parent) else lines


def _files_in(folder: Path) -> str:
    names = sorted(file.name for file in folder.iterdir() if file.is_file())[:8]
    return f"In {folder} there are: {', '.join(names) or 'no files'}"


def aligned_files(prefix: Path, reading: Reading) -> tuple[Path | None, Path | None]:
    """Return the two files with a prefix; a missing one is None."""
    return _file(prefix, reading.source), _file(prefix, reading.target)


def _file(prefix: Path, language: str) -> Path | None:
    if not prefix.name or "/" in language:  # "." and "/" have no name that a language could follow
        return None
    for suffix in ("", *PACKED):
        path = prefix.with_name(f"{prefix.name}.{language}{suffix}")
        if is_there(path):
            return path
    return None
