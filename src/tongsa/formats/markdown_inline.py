"""Inline elements of Markdown: emphasis, links, images, code spans, HTML, formulas, template tags, hard breaks.

Every text is read in linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from markdown_it.common.utils import normalizeReference

from tongsa.formats.html import VOID, Page
from tongsa.formats.html_escapes import REFERENCE, Escapes
from tongsa.formats.markdown_emphasis import Run, matched
from tongsa.formats.segments import ContentBuilder, Outcome, Segment
from tongsa.formats.spans import Inside, Slot
from tongsa.text.placeholders import ATTRIBUTES, COMMENT

_TICKS = re.compile(r"`++")
_ESCAPE_OR_TICKS = re.compile(r"\\.|`++")
_JSX_ATTRIBUTE = r"\s++[\w:-]++=\{[^{}<>\n]*+\}"
_INLINE_TOKEN = re.compile(
    r"(?P<code>`++)"
    r"|(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<auto><(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+|[^\s<>@]++@[^\s<>]++)>)"
    r"|(?P<kept><(?P<name>kbd|code|samp|var)>(?P<inner>[^<>\n]*+)</(?P=name)>)"
    rf"|(?P<html></?[A-Za-z][\w.-]*+{ATTRIBUTES}(?:{_JSX_ATTRIBUTE})*+\s*+/?>|{COMMENT})"
    rf"|(?P<character>{REFERENCE.pattern})"
    r"|(?P<template>\{%[^{}\n]*+(?<=%)\}|\{\{[^{}\n]*+\}\}|\{[:#.][^{}\n]*+\})"
    r"|(?P<expression>\{[^{}\n]*+\})"
    r"|(?P<math>\$\$[^$]++\$\$|\$(?=[^\s$])[^$\n]*+(?<![\s$\\])\$(?!\d))"
    r"|(?P<note>\[\^[^\[\]\s]++\])"
    r"|(?P<open>!?\[)"
    r"|(?P<close>\])"
    r"|(?P<emphasis>\*++|_++|~~)"
)
_DESTINATION = (
    r"(?:<(?:[^<>\\\n]|\\.)*+>"
    r"|(?:[^\s()\\<{]|\\.|\{\{[^{}\n]*+\}\}|\{%[^{}\n]*+\}|\{|\((?:[^\s()\\]|\\.)*+\))*+)"
)
_TITLE = r"""(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))"""
_ADDRESS = re.compile(
    rf"\]\(\s*+{_DESTINATION}(?:\s++(?P<title>{_TITLE}))?+\s*+\)(?:\{{[:.#\w][^{{}}\n]*+\}})?+", re.DOTALL
)
_LABEL = re.compile(r"\]\[(?P<label>[^\[\]\n]*+)\]")
_HTML_NAME = re.compile(r"</?([\w.-]++)")
LONGEST_LABEL = 999
"""Characters of a link's label, as CommonMark limits them."""

_UNESCAPED = {'"': re.compile(r'(?<!\\)"'), "'": re.compile(r"(?<!\\)'")}

FRAGILE = "*_`[]<>|\\~%{}#$"


def title_slot(text: str, start: int, name: str, quote: str) -> Slot:
    """Return a slot for a title, which ends before `quote`."""
    escapes = Escapes({})
    segment = Segment(id=f"{name}, title", content=(escapes.decoded(text),), fragile=FRAGILE + "()")

    def render(outcome: Outcome, _: object) -> str:
        new = escapes.encoded(outcome.text)
        return _UNESCAPED[quote].sub(rf"\\{quote}", new) if quote in _UNESCAPED else new

    return Slot(start=start, end=start + len(text), segment=segment, render=render)


class CodeSpans:
    """Finds the ends of code spans: a run of back-ticks is closed by the next run of the same length."""

    def __init__(self, text: str) -> None:
        self._runs: dict[int, list[int]] = {}
        for run in _TICKS.finditer(text):
            self._runs.setdefault(len(run.group()), []).append(run.start())

    def end(self, opening: re.Match[str]) -> int:
        """Return where the span ends that these back-ticks open; -1 if nothing closes them."""
        length = len(opening.group())
        runs = self._runs.get(length, [])
        closing = bisect_right(runs, opening.start())
        return runs[closing] + length if closing < len(runs) else -1


def without_code(line: str) -> str:
    """Replace escaped characters and code spans by as many letters."""
    code = CodeSpans(line)
    pieces, at = [], 0
    while match := _ESCAPE_OR_TICKS.search(line, at):
        end = max(match.end(), code.end(match) if match.group().startswith("`") else 0)
        pieces += [line[at : match.start()], "x" * (end - match.start())]
        at = end
    return "".join([*pieces, line[at:]])


@dataclass
class Piece:
    raw: str
    kind: str = "text"
    """`text`, `open`, `close`, `word`, `alone`, `break`; before they are matched, `emphasis`."""
    name: str = ""
    seen: str = ""
    """Text that the model sees for it."""
    start: int = 0
    """Where it begins in the joined text."""
    inside: tuple[Slot, ...] = ()
    """Texts of its own, by positions in the joined text: the title of a link, the description of an image."""


@dataclass
class Inlines:
    """Collects the lines of a paragraph and parses them as one text."""

    labels: set[str]
    """Labels defined in the document, which make `[label]` a link."""
    name: Callable[[int], str]
    """Names the place of a position in the file."""
    is_mdx: bool = False
    escapes: Escapes = field(default_factory=lambda: Escapes({}))
    inside: list[Inside] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _breaks: dict[int, str] = field(default_factory=dict)
    """Hard breaks by their positions; the text has one space for each."""
    _lines: list[tuple[int, int]] = field(default_factory=list)
    """Where each line begins, in the joined text and in the file."""

    def add(self, line: str, start: int, hard_break: str, *, last: bool) -> None:
        """Add a line, which begins at `start` in the file."""
        self._lines.append((self._length, start))
        self._parts.append(line)
        self._length += len(line)
        if hard_break:
            self._breaks[self._length] = hard_break
        if hard_break or not last:
            self._parts.append(" ")
            self._length += 1

    def place(self, at: int) -> int:
        """Return the position in the file of a position in the joined text."""
        joined, start = self._lines[bisect_right(self._lines, (at, 1 << 62)) - 1]
        return start + at - joined

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def marked(self) -> ContentBuilder:
        marked = ContentBuilder()
        waiting: list[str] = []
        for piece in _without_letters(_emphasised(self._pieces(self.text))):
            if piece.kind == "text":
                waiting.append(piece.raw)
                continue
            marked.text("".join(waiting))
            waiting = []
            self.inside += [self._inside(slot, len(marked.raws), piece.start) for slot in piece.inside]
            if piece.kind == "open":
                marked.open(piece.raw, piece.name)
            elif piece.kind == "close":
                marked.close(piece.raw, piece.name)
            else:
                marked.alone(piece.raw, piece.seen, breaks=piece.kind == "break")
        marked.text("".join(waiting))
        return marked

    def _inside(self, slot: Slot, mark: int, at: int) -> Inside:
        return Inside(mark=mark, start=slot.start - at, end=slot.end - at, slot=slot.moved(self.place))

    def _pieces(self, text: str) -> list[Piece]:
        pieces: list[Piece] = []
        brackets: list[int] = []  # the indices of the pieces with open brackets
        code = CodeSpans(text)
        breaks = list(self._breaks)
        at = 0
        while match := _INLINE_TOKEN.search(text, at):
            pieces += self._plain(text, at, match.start(), breaks)
            start, at = match.span()
            kind = match.lastgroup or ""
            if kind == "close":
                at = self._close_bracket(text, pieces, brackets, start)
            elif kind == "code" and (end := code.end(match)) > 0:
                at = end
                pieces.append(Piece(text[start:end], "word", seen=text[start:end], start=start))
            elif kind in ("html", "math") and bisect_left(breaks, start) != bisect_left(breaks, at):
                at = start + 1  # there is no hard break inside a tag or formula
                pieces.append(Piece(text[start:at], start=start))
            else:
                pieces.append(self._piece(kind, match))
                if kind == "open":
                    brackets.append(len(pieces) - 1)
        pieces += self._plain(text, at, len(text), breaks)
        return [piece for piece in pieces if piece.raw]

    def _plain(self, text: str, start: int, end: int, breaks: list[int]) -> Iterator[Piece]:
        """Yield the text and hard breaks between two tokens."""
        for position in breaks[bisect_left(breaks, start) : bisect_left(breaks, end)]:
            yield Piece(text[start:position], start=start)
            yield Piece(self._breaks[position], "break", start=position)
            start = position + 1
        yield Piece(text[start:end], start=start)

    def _piece(self, kind: str, match: re.Match[str]) -> Piece:
        raw, start = match.group(), match.start()
        if kind == "html":
            name = _HTML_NAME.match(raw)
            inside = tuple(self._attributes(raw, start)) if "=" in raw else ()
            if not name or raw.endswith("/>") or name[1].lower() in VOID:
                return Piece(raw, "alone", start=start, inside=inside)
            kind = "close" if raw.startswith("</") else "open"
            return Piece(raw, kind, "<" + name[1].lower(), start=start, inside=inside)
        if kind == "character":
            return Piece(self.escapes.character(raw) or raw, start=start)
        if kind in ("escape", "auto", "math"):
            return Piece(raw, "word", seen=raw, start=start)
        if kind == "kept":
            return Piece(raw, "word", seen=match["inner"].strip(), start=start)
        if kind in ("note", "template") or (kind == "expression" and self.is_mdx):
            is_value = raw.startswith("{{") or kind == "expression"
            return Piece(raw, "alone", seen=raw if is_value else "", start=start)
        return Piece(raw, "emphasis" if kind == "emphasis" else "text", start=start)

    def _attributes(self, tag: str, start: int) -> Iterator[Slot]:
        for slot in Page(tag, lambda at: self.name(self.place(start + at)), is_jsx=True).slots():
            yield slot.moved(lambda at: start + at)

    def _title(self, text: str, start: int, end: int) -> Iterator[Slot]:
        """Yield a slot for the description of an image or a title, which is enclosed in quotes."""
        if any(map(str.isalpha, text[start:end])):
            yield title_slot(text[start:end], start, self.name(self.place(start)), text[end : end + 1])

    def _close_bracket(self, text: str, pieces: list[Piece], brackets: list[int], at: int) -> int:
        """Close a link or image at `](address)`, `][label]`, or at `]` if the text in brackets is a label."""
        opened = brackets.pop() if brackets else -1
        if opened < 0:
            pieces.append(Piece("]", start=at))
            return at + 1
        bracket = pieces[opened]
        start = bracket.start + len(bracket.raw)
        end, closing = at + 1, ""
        titles: tuple[Slot, ...] = ()
        if address := _ADDRESS.match(text, at):
            end, closing = address.end(), address.group()
            if address["title"]:
                titles = tuple(self._title(text, address.start("title") + 1, address.end("title") - 1))
        elif (label := _LABEL.match(text, at)) and label["label"] and self._is_label(label["label"]):
            end, closing = label.end(), label.group()
        elif at - start <= LONGEST_LABEL and self._is_label(text[start:at]):
            end = label.end() if label and not label["label"] else end
            closing = f"][{text[start:at]}]"  # the label stays if its text is translated
        else:
            pieces.append(Piece("]", start=at))
            return at + 1
        raw = text[bracket.start : end]
        if bracket.raw == "![":
            pieces[opened:] = [
                Piece(raw, "alone", start=bracket.start, inside=(*self._title(text, start, at), *titles))
            ]
        elif closing not in raw and not any(map(_has_letters, pieces[opened + 1 :])):
            seen = raw if any(piece.kind == "word" for piece in pieces[opened + 1 :]) else ""
            pieces[opened:] = [Piece(raw, "alone", seen=seen, start=bracket.start)]
        else:
            pieces[opened] = Piece(bracket.raw, "open", f"[{opened}", start=bracket.start)
            pieces.append(Piece(closing, "close", f"[{opened}", start=at, inside=titles))
        return end

    def _is_label(self, text: str) -> bool:
        return len(text) <= LONGEST_LABEL and normalizeReference(text) in self.labels


def _has_letters(piece: Piece) -> bool:
    return piece.kind == "text" and any(map(str.isalpha, piece.raw))


def _emphasised(pieces: list[Piece]) -> list[Piece]:
    """Turn runs of `*`, `_` and `~~` into opening and closing marks and text, as CommonMark matches them."""
    runs = []
    for index, piece in enumerate(pieces):
        if piece.kind == "emphasis":
            before = pieces[index - 1].raw[-1:] if index else " "
            after = pieces[index + 1].raw[:1] if index + 1 < len(pieces) else " "
            runs.append((index, Run.of(piece.raw, before, after)))
    if not runs:
        return pieces
    matched([run for _, run in runs])
    new: dict[int, list[Piece]] = {}
    for index, run in runs:
        sign, start = pieces[index].raw[:1], pieces[index].start
        new[index] = [Piece(sign * length, "close", f"*{pair}", start=start) for length, pair in run.closes]
        if run.left:
            new[index].append(Piece(sign * run.left, start=start))
        new[index] += [Piece(sign * length, "open", f"*{pair}", start=start) for length, pair in reversed(run.opens)]
    return [each for index, piece in enumerate(pieces) for each in new.get(index, [piece])]


def _without_letters(pieces: list[Piece]) -> list[Piece]:
    """Make one mark of each element without letters: `[![badge](a.png)](b)`, `<sup>1</sup>`, `<a id="x"></a>`."""
    words = [0]
    pairs: dict[int, int] = {}
    waiting: list[int] = []
    for index, piece in enumerate(pieces):
        words.append(words[-1] + (piece.kind == "word" or _has_letters(piece)))
        if piece.kind == "open":
            waiting.append(index)
        elif piece.kind == "close" and waiting and pieces[waiting[-1]].name == piece.name:
            pairs[waiting.pop()] = index
    joined: list[Piece] = []
    at = 0
    while at < len(pieces):
        last = pairs.get(at, -1)
        group = pieces[at : last + 1] if last > at and words[last] == words[at] else []
        if group and not any(each.kind == "break" for each in group):
            inner = "".join(each.raw for each in group if each.kind == "text").strip()
            hidden = group[0].raw.startswith(("<sup", "[")) or not any(map(str.isdigit, inner))
            raw = "".join(each.raw for each in group)
            inside = tuple(slot for each in group for slot in each.inside)
            joined.append(Piece(raw, "alone", seen="" if hidden else inner, start=group[0].start, inside=inside))
            at = last
        else:
            joined.append(pieces[at])
        at += 1
    return joined
