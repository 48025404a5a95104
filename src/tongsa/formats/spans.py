"""Text documents: outcomes replace spans of the text, and everything between them stays unchanged."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
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


Edit = tuple[int, int, str]
"""(start, end, new text)"""


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A span of the text, its segment, and how an outcome is written there."""

    start: int
    end: int
    segment: Segment
    render: Callable[[Outcome, Sequence[str]], str]
    """Write an outcome, with the raw forms of the marks by their numbers."""
    raws: Sequence[str] = ()
    inside: Sequence[Inside] = ()

    @classmethod
    def left(cls, at: int, segment: Segment) -> Slot:
        """A text that stays in the source language, for the review."""
        assert segment.left, "it says why"
        return cls(start=at, end=at, segment=segment, render=lambda outcome, _: outcome.text)

    @property
    def segments(self) -> list[Segment]:
        return [self.segment, *(each.slot.segment for each in self.inside)]

    def edits(self, outcomes: Sequence[Outcome]) -> list[Edit]:
        """Return the changes of the text, for an outcome of each segment."""
        own, *others = outcomes
        changed = [
            (each, each.slot.render(outcome, ()))
            for each, outcome in zip(self.inside, others, strict=True)
            if _is_changed(each.slot.segment, outcome)
        ]
        if not _is_changed(self.segment, own):
            return [(each.slot.start, each.slot.end, new) for each, new in changed]
        raws = list(self.raws)
        for number, group in groupby(changed, key=lambda pair: pair[0].mark):
            raws[number] = replaced(raws[number], [(each.start, each.end, new) for each, new in group])
        return [(self.start, self.end, self.render(own, raws))]

    def moved(self, place: Callable[[int], int], newline: str = "\n") -> Slot:
        """Return this slot of a part of a text as one of the whole text, in which each line end is `newline`."""
        return replace(
            self,
            start=place(self.start),
            end=place(self.end),
            render=lambda outcome, raws: self.render(outcome, raws).replace("\n", newline),
            inside=[replace(each, slot=each.slot.moved(place, newline)) for each in self.inside],
        )


@dataclass(frozen=True, kw_only=True)
class Inside:
    """A text inside a mark, such as the title of a link: a slot of its own, which moves with the mark."""

    mark: int
    start: int
    """Its span in the raw form of the mark."""
    end: int
    slot: Slot


def _is_changed(segment: Segment, outcome: Outcome) -> bool:
    return outcome.changed and outcome.content != segment.content


@dataclass
class SpanDocument:
    """A text document with slots, from left to right."""

    path: Path
    data: bytes
    encoded: Encoded
    slots: list[Slot] = field(default_factory=list)
    also: list[Edit] = field(default_factory=list)
    """Spans that change whenever anything is translated, such as the declared language of a page."""

    @property
    def segments(self) -> list[Segment]:
        return [segment for slot in self.slots for segment in slot.segments]

    def write(self, outcomes: Sequence[Outcome]) -> bytes:
        if not outcomes:
            return self.data
        assert len(outcomes) == len(self.segments), "an outcome for each segment"
        rest = iter(outcomes)
        edits = [edit for slot in self.slots for edit in slot.edits([next(rest) for _ in slot.segments])]
        if not edits:
            return self.data
        return self.encoded.write(replaced(self.encoded.text, [*edits, *self.also]), self.path)


def replaced(text: str, edits: Sequence[Edit]) -> str:
    """Apply edits to the text; their spans must not overlap."""
    pieces = []
    at = 0
    for start, end, new in sorted(edits):
        pieces += [text[at:start], new]
        at = end
    return "".join(pieces) + text[at:]


class Lines:
    """Names the line of a position in a text: `line 12`."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def name(self, at: int) -> str:
        return f"line {bisect_left(self._ends, at) + 1}"
