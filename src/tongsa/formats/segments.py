"""Segments: the units of a document to translate, each a text with marks in it.

A format reads a file into segments and writes outcomes back into their places; it knows nothing of models. The engine
turns segments into outcomes; it knows nothing of files. They share `Content`: text, and marks for everything that
is not text (a tag, a footnote, a line break, `%s`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

Role = Literal["open", "close", "alone"]

OBJECT = "\ufffc"
"""Represents a mark without text when a segment is shown as plain text."""


@dataclass(frozen=True, kw_only=True, slots=True)  # a document may have a million of them
class Mark:
    """An element of a text that must occur exactly once in its translation."""

    role: Role = "alone"
    number: int = -1
    """The format's number for it; -1 for marks that were found in the text itself."""
    pair: int = -1
    """A number shared by an opening mark and its closing mark."""
    text: str = ""
    """Text that the model may see for it: `%s`, a URL; empty for a tag."""
    written: str | None = None
    """Text to write instead, if it differs from `text`: code with its quotes, an escape."""
    ordered: bool = False
    """The order among such marks matters: the first `%s` is the first argument."""
    breaks: bool = False
    """Ends a line, as `<br>` does: the text before and after it is translated separately."""

    @property
    def output(self) -> str:
        return self.text if self.written is None else self.written


Content = tuple[str | Mark, ...]


def plain(content: Content) -> str:
    """Return the content as text; tags become the object character, so that the words around them stay separate."""
    return "".join(part if isinstance(part, str) else part.output or OBJECT for part in content)


def visible(content: Content) -> str:
    """Return the content as a reader sees it."""
    return "".join(part if isinstance(part, str) else part.output for part in content)


@dataclass
class ContentBuilder:
    """Builds content from left to right out of text and raw markup, and matches opening with closing marks.

    A mark's number is the index of its raw form in `raws`.
    """

    raws: list[str] = field(default_factory=list)
    parts: list[str | Mark] = field(default_factory=list)
    _waiting: list[tuple[str, int]] = field(default_factory=list)
    _names: Counter[str] = field(default_factory=Counter)
    """How many marks of each name are waiting."""

    def text(self, text: str) -> None:
        if text:
            self.parts.append(text)

    def alone(self, raw: str, text: str = "", *, breaks: bool = False) -> None:
        self.parts.append(Mark(number=len(self.raws), text=text, breaks=breaks))
        self.raws.append(raw)

    def open(self, raw: str, name: str) -> None:
        self._waiting.append((name, len(self.parts)))
        self._names[name] += 1
        self.alone(raw)

    def close(self, raw: str, name: str) -> None:
        """Add a closing mark; unmatched opening and closing marks are single marks."""
        if not self._names[name]:
            self.alone(raw)
            return
        opened = ""
        while opened != name:
            opened, place = self._waiting.pop()
            self._names[opened] -= 1
        opening = self.parts[place]
        assert isinstance(opening, Mark)
        self.parts[place] = replace(opening, role="open", pair=opening.number)
        self.parts.append(Mark(role="close", number=len(self.raws), pair=opening.number))
        self.raws.append(raw)

    def content(self) -> Content:
        return tuple(self.parts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Segment:
    """A text to translate as a unit."""

    id: str
    """Location, for people: `line 12`, `unit greeting`."""
    content: Content
    fragile: str = "%{}<>&"
    """Characters with a special meaning in this format; a translation must have as many of them as its source."""
    accepts: Callable[[str], bool] | None = None
    """A final check of a translation by the format: gettext's rules for `c-format`."""
    longest: int | None = None
    """Most characters that the file allows for a translation; a longer one is listed in the review."""
    in_bytes: bool = False
    """`longest` counts bytes of UTF-8 instead of characters."""
    left: str = ""
    """Why the text stays in the source language, for the review; empty for text to translate."""

    def excess(self, text: str) -> int:
        """Return by how much a translation is longer than the file allows."""
        if self.longest is None:
            return 0
        return max(0, (len(text.encode("utf-8", "replace")) if self.in_bytes else len(text)) - self.longest)


State = Literal["translated", "memory", "fuzzy", "copied", "source"]
"""`memory`, `fuzzy`: from the translation memory, of the same text or of a similar one; `copied`: nothing to translate;
`source`: could not be translated without breaking it, and needs a person."""


@dataclass(frozen=True, kw_only=True)
class Near:
    """An entry of the translation memory that is similar to a segment, but not equal."""

    source: str
    target: str
    likeness: float


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result for a segment."""

    content: Content
    state: State
    confidence: float
    notes: tuple[str, ...] = ()
    near: Near | None = None

    @property
    def text(self) -> str:
        return visible(self.content)

    @property
    def changed(self) -> bool:
        return self.state in ("translated", "memory", "fuzzy")


@dataclass(frozen=True, kw_only=True)
class Languages:
    source: str
    target: str


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for opening a document."""

    languages: Languages
    encoding: str | None = None
    """Encoding of the file; by default what the file declares, or UTF-8."""
    columns: tuple[str, ...] = ()
    """CSV: the columns to translate, by name or by number from 1."""
    keys: tuple[str, ...] = ()
    """JSON: translate only the values under these keys, as patterns: `title`, `menu.*`."""
    skip_keys: tuple[str, ...] = ()
    """JSON: keys whose values are not translated."""


class Document(Protocol):
    """A file that has been read: its segments, and a way to write their outcomes back."""

    @property
    def segments(self) -> Sequence[Segment]: ...

    def write(self, outcomes: Sequence[Outcome]) -> bytes:
        """Write the file with an outcome for each segment, in order; without outcomes, return the original bytes."""
        ...
