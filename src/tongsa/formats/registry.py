"""The registry of file formats: built-in ones, one line each, and those of other packages.

A format is a module with up to three functions, and a line that says which of them it has:

    read_pairs(path, reading)             the pairs of a corpus, one after the other
    write_pairs(path, reading, changed)   a context manager that gives a function, which writes one pair
    open_document(data, path, options)    a document to translate: its segments, and how to write them back

Corpora, documents, help texts and the server's list of supported files use these lines. A module is imported only when
a file of its format is used. Another package adds a format by an entry point of the group `tongsa.formats` that names
a `Format`; see docs/extend/format.md.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tongsa.base.registry import Registry

if TYPE_CHECKING:
    from tongsa.formats.pairs import Pair, Reading
    from tongsa.formats.segments import Document, Options

    ReadPairs = Callable[[Path, Reading], Iterator[Pair]]
    WritePair = Callable[[Pair], None]
    WritePairs = Callable[[Path, Reading, Counter[str]], AbstractContextManager[WritePair]]
    OpenDocument = Callable[[bytes, Path, Options], Document]

Function = Literal["read_pairs", "write_pairs", "open_document"]


@dataclass(frozen=True)
class Format:
    """A kind of file, known by its suffixes."""

    suffixes: tuple[str, ...]
    """Suffixes in lower case, with the dot."""
    module: str
    """Module with the format's functions."""
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

FORMATS: Registry[Format] = Registry(
    "tongsa.formats",
    {
        "tsv": Format((".tsv",), "tongsa.formats.csv", PAIRS + DOCUMENT),
        "csv": Format((".csv",), "tongsa.formats.csv", PAIRS + DOCUMENT),
        "jsonl": Format((".jsonl",), "tongsa.formats.json", PAIRS),
        "parquet": Format((".parquet",), "tongsa.formats.parquet", PAIRS),
        "tmx": Format((".tmx",), "tongsa.formats.tmx", PAIRS + DOCUMENT),
        "xliff": Format((".xliff", ".xlf"), "tongsa.formats.xliff", PAIRS + DOCUMENT),
        "po": Format((".po",), "tongsa.formats.po", PAIRS + DOCUMENT),
        "pot": Format((".pot",), "tongsa.formats.po", DOCUMENT),
        "mo": Format((".mo",), "tongsa.formats.mo", PAIRS),
        "text": Format((".txt", ".text"), "tongsa.formats.plain", DOCUMENT),
        "markdown": Format((".md", ".markdown", ".mdx"), "tongsa.formats.markdown", DOCUMENT),
        "html": Format((".html", ".htm", ".xhtml"), "tongsa.formats.html", DOCUMENT),
        "subtitles": Format((".srt", ".vtt"), "tongsa.formats.srt", DOCUMENT),
        "docx": Format((".docx",), "tongsa.formats.docx", DOCUMENT),
        "odt": Format((".odt",), "tongsa.formats.odt", DOCUMENT),
        "json": Format((".json", ".arb"), "tongsa.formats.json", DOCUMENT),
    },
    kind="file format",
)

ALIGNED = Format((), "tongsa.formats.plain", PAIRS)
"""Aligned text files, found by their common prefix instead of a suffix: `train` for `train.en` and `train.de`."""


def find_format(suffix: str) -> Format | None:
    """Return the format of files with this suffix. Other packages cannot replace built-in suffixes."""
    suffix = suffix.lower()
    own = next((each for each in FORMATS.builtin.values() if suffix in each.suffixes), None)
    if own or not suffix:
        return own  # installed packages are searched only for other suffixes
    return next((each for each in FORMATS.values() if suffix in each.suffixes), None)


def suffixes_with(function: Function, *, added: bool = True) -> list[str]:
    """List the suffixes of the formats that have a function; `added` includes those of other packages."""
    formats = FORMATS if added else FORMATS.builtin
    return [suffix for each in formats.values() if function in each.functions for suffix in each.suffixes]
