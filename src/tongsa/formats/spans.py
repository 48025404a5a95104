"""Text documents: outcomes replace spans of the text, and everything between them stays unchanged."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tongsa.base.errors import CorpusError
from tongsa.formats.segments import Outcome, Segment
from tongsa.text.lines import ANOTHER_ENCODING, encoding_name

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class Encoded:
    """A decoded text, and how to encode it again."""

    text: str
    encoding: str
    mark: bytes = b""
    errors: str = "strict"

    @classmethod
    def read(cls, data: bytes, path: Path, encoding: str | None, errors: str = "strict") -> Encoded:
        """Decode with the given encoding, or the one of the byte order mark, or UTF-8."""
        for mark, name in _BYTE_ORDER_MARKS:
            if data.startswith(mark):
                return cls(_decode(data[len(mark) :], path, name), name, mark, errors)
        return cls(_decode(data, path, encoding or "utf-8"), encoding or "utf-8", errors=errors)

    def write(self, text: str, path: Path) -> bytes:
        try:
            return self.mark + text.encode(self.encoding, self.errors)
        except UnicodeEncodeError as error:
            raise CorpusError(
                f"{path}: {self.encoding} has no {text[error.start]!r}, which the translation needs",
                "Convert the file to UTF-8 first.",
            ) from error
        except UnicodeError as error:
            raise CorpusError(
                f"{path}: the translation cannot be written in {self.encoding} ({error})",
                "Convert the file to UTF-8 first.",
            ) from error


def _decode(data: bytes, path: Path, encoding: str) -> str:
    encoding_name(encoding)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CorpusError(
            f"{path}, line {line:,}: not {encoding} (0x{data[error.start]:02x}: {error.reason})",
            ANOTHER_ENCODING,
        ) from error


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A span of the text, its segment, and how an outcome is written there."""

    start: int
    end: int
    segment: Segment
    render: Callable[[Outcome], str]


@dataclass
class SpanDocument:
    """A text document with slots, from left to right."""

    path: Path
    data: bytes
    encoded: Encoded
    slots: list[Slot] = field(default_factory=list)
    also: list[tuple[int, int, str]] = field(default_factory=list)
    """Spans that change whenever anything is translated, such as the declared language of a page."""

    @property
    def segments(self) -> list[Segment]:
        return [slot.segment for slot in self.slots]

    def write(self, outcomes: Sequence[Outcome]) -> bytes:
        edits = (
            [
                (slot.start, slot.end, slot.render(outcome))
                for slot, outcome in zip(self.slots, outcomes, strict=True)
                if outcome.changed and outcome.content != slot.segment.content
            ]
            if outcomes
            else []
        )
        if not edits:
            return self.data
        return self.encoded.write(replaced(self.encoded.text, [*edits, *self.also]), self.path)


def replaced(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """Apply edits (start, end, new) to the text; spans must not overlap."""
    pieces = []
    at = 0
    for start, end, new in sorted(edits):
        pieces += [text[at:start], new]
        at = end
    return "".join(pieces) + text[at:]


class Edits:
    """Edits (start, end, new), from left to right."""

    def __init__(self, edits: Iterable[tuple[int, int, str]]) -> None:
        self._edits = list(edits)
        self._starts = [start for start, _, _ in self._edits]

    def inside(self, start: int, end: int) -> list[tuple[int, int, str]]:
        return self._edits[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def outside(self, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int, str]]:
        """Return the edits that are in none of the spans, which are given from left to right."""
        edits: list[tuple[int, int, str]] = []
        at = 0
        for start, end in spans:
            edits += self.inside(at, start)
            at = end
        return edits + self._edits[bisect_left(self._starts, at) :]


class Lines:
    """Names the line of a position in a text: `line 12`."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def name(self, at: int) -> str:
        return f"line {bisect_left(self._ends, at) + 1}"
