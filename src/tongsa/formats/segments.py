"""What a document is made of for translation: segments, each a stretch of text with marks in it.

A format reads a file into segments and writes outcomes back into their places; it knows nothing of models. The engine
turns segments into outcomes; it knows nothing of files. What lies between them is `Content`: text, and marks that
stand for whatever is not text (a tag, a footnote, a line break, `%s`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

Role = Literal["open", "close", "alone"]

OBJECT = "\ufffc"
"""Stands for a mark without text where a segment is shown as plain text."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Something in a text that must come out exactly once."""

    role: Role = "alone"
    number: int = -1
    """What the format knows it by; -1 for what the engine has found in the text itself."""
    pair: int = -1
    """The same for an opening mark and its closing one."""
    text: str = ""
    """What a model may see of it: `%s`, a URL; nothing for a tag."""
    written: str | None = None
    """What is written in its place, where that is not `text`: the target form of a term."""
    ordered: bool = False
    """Its place among its like has a meaning: the first `%s` is the first argument."""
    breaks: bool = False
    """Ends a line, as `<br>` does: what is on its two sides is translated apart."""
    term: bool = False
    """A term of the glossary: found in a translation also where it is inflected."""

    @property
    def output(self) -> str:
        return self.text if self.written is None else self.written


Content = tuple[str | Mark, ...]


def plain(content: Content) -> str:
    """The content as text: tags become the object character, so that words on their two sides stay apart."""
    return "".join(part if isinstance(part, str) else part.output or OBJECT for part in content)


def visible(content: Content) -> str:
    """The content as a reader sees it."""
    return "".join(part if isinstance(part, str) else part.output for part in content)


@dataclass
class ContentBuilder:
    """Builds content from left to right out of text and raw markup; an opening mark finds its closing one.

    A mark's number is the place of its raw form in `raws`.
    """

    raws: list[str] = field(default_factory=list)
    parts: list[str | Mark] = field(default_factory=list)
    _waiting: list[tuple[str, int]] = field(default_factory=list)

    def text(self, text: str) -> None:
        if text:
            self.parts.append(text)

    def alone(self, raw: str, text: str = "", *, breaks: bool = False) -> None:
        self.parts.append(Mark(number=len(self.raws), text=text, breaks=breaks))
        self.raws.append(raw)

    def open(self, raw: str, name: str) -> None:
        self._waiting.append((name, len(self.parts)))
        self.alone(raw)

    def close(self, raw: str, name: str) -> None:
        """A closing mark without an opening one stands alone, and so does an opening one that was never closed."""
        if not any(name == each for each, _ in self._waiting):
            self.alone(raw)
            return
        while self._waiting[-1][0] != name:
            self._waiting.pop()
        place = self._waiting.pop()[1]
        opening = self.parts[place]
        assert isinstance(opening, Mark)
        self.parts[place] = replace(opening, role="open", pair=opening.number)
        self.parts.append(Mark(role="close", number=len(self.raws), pair=opening.number))
        self.raws.append(raw)

    def content(self) -> Content:
        return tuple(self.parts)


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A stretch of text to translate as one."""

    id: str
    """Where it stands, for people: `line 12`, `unit greeting`."""
    content: Content
    fragile: str = "%{}<>&"
    """Characters that mean something to this format: a translation has as many of them as its source."""
    accepts: Callable[[str], bool] | None = None
    """A last word of the format on a translation: gettext's own rules for `c-format`."""


State = Literal["translated", "memory", "copied", "source"]
"""`copied` has nothing to translate; `source` could not be translated without breaking it, and wants a person."""


@dataclass(frozen=True, kw_only=True)
class Near:
    """An entry of the translation memory that is like a segment, but not the same."""

    source: str
    target: str
    likeness: float


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a segment."""

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
        return self.state in ("translated", "memory")


@dataclass(frozen=True, kw_only=True)
class Languages:
    source: str
    target: str


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a format may be told."""

    languages: Languages
    encoding: str | None = None
    """Otherwise UTF-8, or what the file itself says."""
    columns: tuple[str, ...] = ()
    """CSV: the columns to translate, by name or by number from 1."""


class Document(Protocol):
    """A file that has been read: its segments, and a way to write their outcomes back."""

    @property
    def segments(self) -> Sequence[Segment]: ...

    def write(self, outcomes: Sequence[Outcome]) -> bytes:
        """The file with an outcome for each segment, in order; without any, the bytes that were read."""
        ...
