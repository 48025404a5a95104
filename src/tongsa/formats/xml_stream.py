"""XML as a stream of events, not a tree: memory does not grow with the file, and every unit knows its line.

The parser is Python's expat. Document types are not loaded, so there is no network access; entity declarations are
refused, so nothing is expanded; depth and text length are limited.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol
from xml.parsers import expat
from xml.sax.saxutils import escape

from tongsa.base.containers import DamagedFileError, open_bytes
from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.text.lines import encoding_name, nfc
from tongsa.text.placeholders import find

CHUNK = 1 << 16
DEEPEST = 200
LONGEST = 1 << 20
"""Longest text, in characters."""
TAG = 20
"""Characters that a tag inside a text counts for."""
LONGEST_TOKEN = 1 << 22
"""Longest tag or comment, in bytes."""


class Sink(Protocol):
    """Receives the events and appends pairs to `found`, which the reader empties."""

    found: list[Pair]

    @property
    def in_text(self) -> bool:
        """True from the beginning of a text to its end: tags in there belong to it."""

    def start(self, tag: str, attributes: dict[str, str], parent: str, line: int) -> None: ...

    def end(self, tag: str, parent: str) -> None: ...

    def text(self, data: str) -> None: ...


class _Events:
    """Connects a sink to expat, and refuses what no corpus needs."""

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
        if self.sink.in_text:  # the text goes on, and its tags are kept
            self._count(sum(map(len, attributes.values()), TAG))
        else:
            self.length = 0
        self.sink.start(tag, attributes, self.tags[-1], self.parser.CurrentLineNumber)
        self.tags.append(tag)

    def end(self, tag: str) -> None:
        self.sink.end(self.tags.pop(), self.tags[-1])

    def text(self, data: str) -> None:
        self._count(len(data))
        self.sink.text(data)

    def _count(self, length: int) -> None:
        self.length += length
        if self.length > LONGEST:
            raise CorpusError(f"{self.where}: a text of more than {LONGEST:,} characters")

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
    """Yield the pairs that the sink finds; those before a damaged place come before the error."""
    # XML declares its encoding; one named by the user takes precedence.
    forced = None if encoding_name(reading.encoding) == "utf-8" else reading.encoding
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
    except OSError as error:
        trouble = CorpusError(f"{path} cannot be read after line {events.parser.CurrentLineNumber:,}: {error.strerror}")
    except UnicodeDecodeError as error:
        trouble = CorpusError(f"{events.where}: not {reading.encoding} ({error.reason})")
    except (ValueError, LookupError) as error:
        trouble = CorpusError(f"{path}: its encoding cannot be read: {error}", "Name it:  --encoding euc-kr")
    except DamagedFileError as error:
        trouble = error.after(f"line {events.parser.CurrentLineNumber:,}")
    yield from _taken(sink)
    raise trouble


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
        "To use what can be read before this place:  --salvage",
    )


_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_WRAPS = {"g", "pc"}
_OPENS = {"bpt", "bx", "sc"}
_CLOSES = {"ept", "ex", "ec"}
_ALONE = {"ph", "it", "ut", "x"}


class InlineText:
    """Collects the text of one TMX or XLIFF segment from its events; inline elements become placeholders.

    | element                                        | becomes                                                    |
    | ---------------------------------------------- | ---------------------------------------------------------- |
    | bpt ept ph it ut that hold a code such as <b>  | the code itself, where plain text would have a placeholder |
    | other codes that open and close: bpt bx sc g pc | `<g id="1">`, `</g>`                                       |
    | other codes that stand alone: ph it x           | `<x id="1"/>`                                              |
    | mrk, hi, and what is unknown                    | nothing: their text stays                                  |

    So the text looks as it did in the software, and `tongsa.text.placeholders` finds every placeholder.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._code: list[str] | None = None
        self._mark = ""
        self._depth = 0
        self._numbers: Counter[str] = Counter()

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._code is not None:  # <sub> inside a code
            self._depth += 1
            return
        if tag in _WRAPS:
            self._parts.append(f'<g id="{self._number(tag, attributes)}">')
        elif tag in _OPENS | _ALONE:
            number = self._number(tag, attributes)
            self._begin(f'<g id="{number}">' if tag in _OPENS else f'<x id="{number}"/>')
        elif tag in _CLOSES:
            self._begin("</g>")

    def end(self, tag: str) -> None:
        if self._code is None:
            if tag in _WRAPS:
                self._parts.append("</g>")
        elif self._depth:
            self._depth -= 1
        else:
            code = "".join(self._code)
            self._parts.append(code if _is_placeholder(code) else self._mark)
            self._code = None

    def text(self, data: str) -> None:
        (self._parts if self._code is None else self._code).append(data)

    def __str__(self) -> str:
        return nfc("".join(self._parts))

    def _begin(self, mark: str) -> None:
        self._code, self._mark, self._depth = [], mark, 0

    def _number(self, tag: str, attributes: dict[str, str]) -> str:
        self._numbers[tag] += 1
        # in TMX, x links the same code in two languages; i only links an opening code to its closing one
        given = attributes.get("x") or attributes.get("id") or attributes.get("i") or str(self._numbers[tag])
        return "".join(character for character in given if character not in '"<>&\n\t')


def _is_placeholder(code: str) -> bool:
    found = find(code)
    return len(found) == 1 and found[0].text == code


def escaped_segment(text: str, number: str, changed: Counter[str]) -> str:
    """Wrap tags of the text in <ph>, as other tools expect; reading restores the same text."""
    clean = _NOT_XML.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    if clean != text:
        changed["texts with control characters that XML forbids, which were left out"] += 1
    parts, end = [], 0
    for count, tag in enumerate((each for each in find(clean) if each.kind == "tag"), 1):
        parts.append(f'{escape(clean[end : tag.start])}<ph {number}="{count}">{escape(tag.text)}</ph>')
        end = tag.end
    return "".join([*parts, escape(clean[end:])])
