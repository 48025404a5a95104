"""XML as a stream of events: no tree, so memory is flat whatever the file, and every unit knows its line.

The parser is expat, as Python ships it. A document type is passed over unread, so there is no network; a declaration
of an entity is refused, so there is nothing to expand; depth and the length of a text are bounded.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol
from xml.parsers import expat

from tongsa.base.containers import DAMAGE, open_bytes
from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Pair, Place, Reading

CHUNK = 1 << 16
DEEPEST = 200
LONGEST = 1 << 20
"""Characters of one text."""
LONGEST_TOKEN = 1 << 24
"""Bytes of one tag or comment."""


class Sink(Protocol):
    """What a format makes of the events. `found` is emptied by the reader."""

    found: list[Pair]

    def start(self, tag: str, attributes: dict[str, str], parent: str, line: int) -> None: ...

    def end(self, tag: str, parent: str) -> None: ...

    def text(self, data: str) -> None: ...


class _Events:
    """Binds a sink to expat, and refuses what a corpus has no use for."""

    def __init__(self, path: Path, sink: Sink, encoding: str | None) -> None:
        self.path, self.sink = path, sink
        self.parser = expat.ParserCreate(encoding)
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.EntityDeclHandler = self.entity
        self.parser.SkippedEntityHandler = self.skipped
        self.tags: list[str] = [""]
        self.length = 0
        self.fed = 0

    def feed(self, data: bytes, last: bool = False) -> None:
        self.parser.Parse(data, last)
        self.fed += len(data)
        if self.fed - self.parser.CurrentByteIndex > LONGEST_TOKEN:
            raise CorpusError(f"{self.where}: a tag, comment or text of more than {LONGEST_TOKEN >> 20} MB")

    @property
    def where(self) -> Place:
        return Place(self.path, self.parser.CurrentLineNumber)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.tags) > DEEPEST:
            raise CorpusError(f"{self.where}: elements are nested more than {DEEPEST} deep")
        tag = tag.rpartition(":")[2]
        self.length = 0
        self.sink.start(tag, attributes, self.tags[-1], self.parser.CurrentLineNumber)
        self.tags.append(tag)

    def end(self, tag: str) -> None:
        self.sink.end(self.tags.pop(), self.tags[-1])

    def text(self, data: str) -> None:
        self.length += len(data)
        if self.length > LONGEST:
            raise CorpusError(f"{self.where}: a text of more than {LONGEST:,} characters")
        self.sink.text(data)

    def entity(self, name: str, *_: object) -> None:
        raise CorpusError(
            f"{self.where}: the file declares an entity ({name}), which is refused",
            "Entities can read other files or grow without bound; no translation memory needs them.",
        )

    def skipped(self, name: str, *_: object) -> None:
        raise CorpusError(
            f"{self.where}: &{name}; is not defined in this file", "Write the character itself, or its number."
        )


def stream(path: Path, reading: Reading, sink: Sink) -> Iterator[Pair]:
    """The pairs that the sink finds; those before a damaged place come out before the error."""
    # XML says its encoding itself; one that the user names wins over it.
    forced = None if codecs_name(reading.encoding) == "utf-8" else reading.encoding
    events = _Events(path, sink, "utf-8" if forced else None)
    trouble: CorpusError
    try:
        with open_bytes(path) as file:
            decoder = codecs.getincrementaldecoder(forced)() if forced else None
            while chunk := file.read(CHUNK):
                events.feed(decoder.decode(chunk).encode() if decoder else chunk)
                yield from _taken(sink)
            events.feed(decoder.decode(b"", True).encode() if decoder else b"", last=True)
        yield from _taken(sink)
        return
    except expat.ExpatError as error:
        trouble = _damaged(path, error)
    except UnicodeDecodeError as error:
        trouble = CorpusError(f"{events.where}: not {reading.encoding} ({error.reason})")
    except (ValueError, LookupError) as error:
        trouble = CorpusError(f"{path}: its encoding cannot be read: {error}", "Name it:  --encoding euc-kr")
    except DAMAGE as error:
        trouble = CorpusError(f"{path} is damaged after line {events.parser.CurrentLineNumber:,}: {error}")
    yield from _taken(sink)
    raise trouble


def codecs_name(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError as error:
        raise CorpusError(
            f"{encoding} is no encoding that Python knows", "For example: utf-8, cp949, cp1252"
        ) from error


def _taken(sink: Sink) -> list[Pair]:
    taken, sink.found = sink.found, []
    return taken


def _damaged(path: Path, error: expat.ExpatError) -> CorpusError:
    what = expat.ErrorString(error.code) or str(error)
    cut = what in ("no element found", "unclosed token", "unclosed CDATA section", "partial character")
    return CorpusError(
        f"{path}, line {error.lineno:,}, column {error.offset + 1:,}: "
        + ("the file ends in the middle" if cut else f"not XML: {what}"),
        "It may have been cut short while it was copied."
        if cut
        else "If it has another encoding than it says, name it:  --encoding cp1252",
        "To take what can be read before this place:  --salvage",
    )
