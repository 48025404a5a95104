"""The file formats that are known: one line each, and those that other packages add.

A format is a module with up to three functions, and a line that says which of them it has:

    read_pairs(path, reading)             the pairs of a corpus, one after the other
    write_pairs(path, reading, changed)   a context manager that gives a function, which writes one pair
    open_document(data, path, options)    a document to translate: its segments, and how to write them back

Corpora, documents, help texts and the server's list of supported files follow from the line. A module is imported only
when a file of its kind is met. Another package adds a format by an entry point of the group `tongsa.formats` that names
a `Format`; see docs/extend/format.md.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tongsa.base.errors import UsageError

if TYPE_CHECKING:
    from tongsa.formats.pairs import Pair, Reading
    from tongsa.formats.segments import Document, Options

    ReadPairs = Callable[[Path, Reading], Iterator[Pair]]
    WritePair = Callable[[Pair], None]
    WritePairs = Callable[[Path, Reading, Counter[str]], AbstractContextManager[WritePair]]
    OpenDocument = Callable[[bytes, Path, Options], Document]

Function = Literal["read_pairs", "write_pairs", "open_document"]

ENTRY_POINTS = "tongsa.formats"


@dataclass(frozen=True)
class Format:
    """A kind of file, known by its suffixes."""

    name: str
    suffixes: tuple[str, ...]
    """In small letters, with the dot."""
    module: str
    """What to import for its functions."""
    functions: tuple[Function, ...]
    """Which of the three functions the module has."""

    @property
    def read_pairs(self) -> ReadPairs | None:
        found: ReadPairs | None = self._function("read_pairs")
        return found

    @property
    def write_pairs(self) -> WritePairs | None:
        found: WritePairs | None = self._function("write_pairs")
        return found

    @property
    def open_document(self) -> OpenDocument | None:
        found: OpenDocument | None = self._function("open_document")
        return found

    def _function(self, name: Function):  # type: ignore[no-untyped-def]  # each property says which type it is
        return getattr(importlib.import_module(self.module), name) if name in self.functions else None


PAIRS: tuple[Function, ...] = ("read_pairs", "write_pairs")
DOCUMENT: tuple[Function, ...] = ("open_document",)

FORMATS: tuple[Format, ...] = (
    Format("TSV", (".tsv",), "tongsa.formats.csv", PAIRS + DOCUMENT),
    Format("CSV", (".csv",), "tongsa.formats.csv", PAIRS + DOCUMENT),
    Format("JSON Lines", (".jsonl",), "tongsa.formats.json", PAIRS),
    Format("Parquet", (".parquet",), "tongsa.formats.parquet", PAIRS),
    Format("TMX", (".tmx",), "tongsa.formats.tmx", PAIRS + DOCUMENT),
    Format("XLIFF", (".xliff", ".xlf"), "tongsa.formats.xliff", PAIRS + DOCUMENT),
    Format("PO", (".po",), "tongsa.formats.po", PAIRS + DOCUMENT),
    Format("PO template", (".pot",), "tongsa.formats.po", DOCUMENT),
    Format("MO", (".mo",), "tongsa.formats.mo", PAIRS),
    Format("plain text", (".txt", ".text"), "tongsa.formats.plain", DOCUMENT),
    Format("Markdown", (".md", ".markdown"), "tongsa.formats.markdown", DOCUMENT),
    Format("HTML", (".html", ".htm", ".xhtml"), "tongsa.formats.html", DOCUMENT),
    Format("subtitles", (".srt", ".vtt"), "tongsa.formats.srt", DOCUMENT),
    Format("Word", (".docx",), "tongsa.formats.docx", DOCUMENT),
    Format("OpenDocument", (".odt",), "tongsa.formats.odt", DOCUMENT),
    Format("JSON", (".json", ".arb"), "tongsa.formats.json", DOCUMENT),
)

ALIGNED = Format("two aligned files", (), "tongsa.formats.plain", PAIRS)
"""Known by the prefix that two files share, not by a suffix: `train` for `train.en` and `train.de`."""


def find_format(suffix: str) -> Format | None:
    """The format of files with this suffix; packages that add formats are asked only where we have none."""
    own = _with_suffix(FORMATS, suffix.lower())
    return own or (_with_suffix(_added(), suffix.lower()) if suffix else None)


def _with_suffix(formats: tuple[Format, ...], suffix: str) -> Format | None:
    return next((each for each in formats if suffix in each.suffixes), None)


def suffixes_with(function: Function, *, added: bool = True) -> list[str]:
    """The suffixes of the formats that have a function; `added` for those of other packages, too."""
    formats = (*FORMATS, *_added()) if added else FORMATS
    return [suffix for each in formats if function in each.functions for suffix in each.suffixes]


@lru_cache(maxsize=1)
def _added() -> tuple[Format, ...]:
    """The formats of other packages. Suffixes that we know ourselves stay ours."""
    from importlib.metadata import entry_points  # takes longer to import than all else that `tongsa --help` needs

    return tuple(_loaded(point.name, point.load) for point in entry_points(group=ENTRY_POINTS))


def _loaded(name: str, load: Callable[[], object]) -> Format:
    try:
        found = load()
    except Exception as error:
        raise UsageError(
            f"the file format {name}, which another package adds, cannot be loaded: {type(error).__name__}: {error}",
            "Update or uninstall the package that has this entry point of the group tongsa.formats.",
        ) from error
    if not isinstance(found, Format):
        raise UsageError(f"the file format {name}, which another package adds, is no tongsa.formats.registry.Format")
    return found
