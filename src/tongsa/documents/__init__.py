"""Documents: files with structure in, the same files in another language out.

    read ─▶ segments ─ memory, glossary, sentences, marks ─▶ translator ─ checks ─▶ outcomes ─▶ write

A further format is one file with a function like `read_text`, and one line in FORMATS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tongsa.base.errors import CorpusError, UsageError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.documents.engine import Help, TranslatorLike, translate_segments
from tongsa.formats.csv_document import read_csv
from tongsa.formats.docx import read_docx
from tongsa.formats.html import read_html
from tongsa.formats.json import read_json
from tongsa.formats.markdown import read_markdown
from tongsa.formats.odt import read_odt
from tongsa.formats.po_document import read_po
from tongsa.formats.segments import Document, Languages, Options, Outcome, Segment
from tongsa.formats.srt import read_srt
from tongsa.formats.text_document import read_text
from tongsa.formats.tmx_document import read_tmx
from tongsa.formats.xliff_document import read_xliff

__all__ = ["FORMATS", "Help", "Languages", "Options", "Translated", "open_document", "translate_document"]

LARGEST = 256 << 20
"""Bytes of one document: they are read whole."""

FORMATS: dict[str, Callable[[bytes, Path, Options], Document]] = {
    ".txt": read_text,
    ".text": read_text,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".xhtml": read_html,
    ".po": read_po,
    ".pot": read_po,
    ".xlf": read_xliff,
    ".xliff": read_xliff,
    ".tmx": read_tmx,
    ".srt": read_srt,
    ".vtt": read_srt,
    ".docx": read_docx,
    ".odt": read_odt,
    ".json": read_json,
    ".arb": read_json,
    ".csv": read_csv,
    ".tsv": read_csv,
}


@dataclass(frozen=True)
class Translated:
    """A document that was translated: where it is now, and what became of each segment."""

    source: Path
    target: Path
    segments: Sequence[Segment]
    outcomes: Sequence[Outcome]


def open_document(path: Path, options: Options) -> Document:
    """Read a document; one of no known kind is an error that says what can be read."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path} is of no kind that can be translated", f"Kinds: {' '.join(FORMATS)}")
    try:
        if path.stat().st_size > LARGEST:
            raise CorpusError(f"{path} has more than {LARGEST >> 20} MB", "Split it, and translate the parts.")
        data = path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror or error}") from error
    return FORMATS[path.suffix.lower()](data, path, options)


def translate_document(
    translator: TranslatorLike,
    source: Path,
    target: Path | None = None,
    *,
    help: Help | None = None,
    encoding: str | None = None,
    columns: tuple[str, ...] = (),
    show: Show | None = None,
) -> Translated:
    """Translate a file into a new one beside it (`manual.de.docx`), or into `target`."""
    languages = Languages(source=translator.card.source, target=translator.card.target)
    target = target or beside(source, languages)
    document = open_document(source, Options(languages=languages, encoding=encoding, columns=columns))
    segments = list(document.segments)
    outcomes = translate_segments(segments, translator, help, show)
    write_atomically(target, document.write(outcomes))
    return Translated(source, target, segments, outcomes)


def beside(source: Path, languages: Languages) -> Path:
    """`manual.docx` -> `manual.de.docx`, `manual.en.docx` -> `manual.de.docx`, `app.pot` -> `app.de.po`."""
    stem = source.stem.removesuffix(f".{languages.source}")
    return source.with_name(f"{stem}.{languages.target}{'.po' if source.suffix.lower() == '.pot' else source.suffix}")
