"""Structured files: read, translated segment by segment, and written beside the source."""

from __future__ import annotations

import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tongsa.base.errors import CorpusError, UsageError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.documents.translate import Resources, TranslatorLike, translate_segments
from tongsa.formats.registry import find_format, suffixes_with
from tongsa.formats.segments import Document, Languages, Options, Outcome, Segment

LARGEST = 256 << 20
"""Largest document in bytes; documents are read into memory."""


@dataclass(frozen=True)
class TranslatedDocument:
    """A translated document: its path, and the outcome of each segment."""

    source: Path
    target: Path
    segments: Sequence[Segment]
    outcomes: Sequence[Outcome]


def open_document(path: Path, options: Options) -> Document:
    """Read a document; the error for an unknown format lists the known ones."""
    _opener(path)  # before its bytes are read
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a named pipe might never end, or never begin
            raise CorpusError(f"{path} is not a file")
        if status.st_size > LARGEST:
            raise CorpusError(f"{path} has more than {LARGEST >> 20} MB", "Split it, and translate the parts.")
        data = path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror or error}") from error
    return read_document(data, path, options)


def read_document(data: bytes, path: Path, options: Options) -> Document:
    """Open a document from its bytes; the suffix of `path` determines the format."""
    return _opener(path)(data, path, options)


def _opener(path: Path) -> Callable[[bytes, Path, Options], Document]:
    known = find_format(path.suffix)
    if known is None or known.open_document is None:
        kinds = " ".join(suffixes_with("open_document"))
        raise UsageError(f"unknown kind of document: {path}", f"Kinds: {kinds}")
    return known.open_document


def translate_document(
    translator: TranslatorLike,
    source: Path,
    target: Path | None = None,
    *,
    resources: Resources | None = None,
    encoding: str | None = None,
    columns: tuple[str, ...] = (),
    keys: tuple[str, ...] = (),
    skip_keys: tuple[str, ...] = (),
    show: Show | None = None,
) -> TranslatedDocument:
    """Translate a file into a new one beside it (`manual.de.docx`), or into `target`, which may be the file itself."""
    languages = Languages(source=translator.card.source, target=translator.card.target)
    if target is None:
        target = default_target(source, languages)
        if source.resolve() == target.resolve():  # from a language into itself
            raise UsageError(f"the translation of {source} would be written over it", "Name the file:  --output FILE")
    try:
        options = Options(languages=languages, encoding=encoding, columns=columns, keys=keys, skip_keys=skip_keys)
        document = open_document(source, options)
        segments = list(document.segments)
        outcomes = translate_segments(segments, translator, resources, show)
        written = document.write(outcomes)
    except RecursionError:
        raise CorpusError(f"{source} is nested too deeply to be read") from None
    except MemoryError:
        raise CorpusError(f"{source} takes more memory than there is", "Split it, and translate the parts.") from None
    write_atomically(target, written)
    return TranslatedDocument(source, target, segments, outcomes)


def default_target(source: Path, languages: Languages) -> Path:
    """`manual.docx` -> `manual.de.docx`, `manual.en.docx` -> `manual.de.docx`, `app.pot` -> `app.de.po`."""
    stem = source.stem.removesuffix(f".{languages.source}")
    return source.with_name(f"{stem}.{languages.target}{'.po' if source.suffix.lower() == '.pot' else source.suffix}")
