"""Inline elements of Markdown: emphasis, links, code spans, HTML, formulas, hard breaks; linear time for any text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from tongsa.formats.segments import ContentBuilder
from tongsa.text.placeholders import ATTRIBUTES, COMMENT

_TICKS = re.compile(r"`++")
_ESCAPE_OR_TICKS = re.compile(r"\\.|`++")
_INLINE_TOKEN = re.compile(
    r"(?P<code>`++)"
    r"|(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<auto><(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+|[^\s<>@]++@[^\s<>]++)>)"
    rf"|(?P<html></?[A-Za-z][\w-]*+{ATTRIBUTES}\s*+/?>|{COMMENT})"
    r"|(?P<math>\$\$[^$]++\$\$|\$(?=[^\s$])[^$\n]*+(?<![\s$\\])\$(?!\d))"
    r"|(?P<note>\[\^[^\[\]\s]++\])"
    r"|(?P<open>!?\[)"
    r"|(?P<close>\])"
    r"|(?P<emphasis>\*{1,3}|(?<![^\W_])_{1,3}|_{1,3}(?![^\W_])|~~)"
)
_TARGET = re.compile(r"\]\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*+\))*+\)|\]\[[^\]\n]*+\]", re.DOTALL)
_HTML_NAME = re.compile(r"</?([\w-]++)")
LONGEST_LABEL = 999
"""Characters of a link's label, as CommonMark limits them."""


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
class _Piece:
    raw: str
    kind: str = "text"
    name: str = ""


@dataclass
class Inlines:
    """Collects the lines of a paragraph and parses them as one text."""

    labels: set[str]
    """Labels defined in the document, which make `[label]` a link."""
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _breaks: dict[int, str] = field(default_factory=dict)
    """Hard breaks by their positions; the text has one space for each."""

    def add(self, line: str, hard_break: str, *, last: bool) -> None:
        self._parts.append(line)
        self._length += len(line)
        if hard_break:
            self._breaks[self._length] = hard_break
        if hard_break or not last:
            self._parts.append(" ")
            self._length += 1

    def marked(self) -> ContentBuilder:
        pieces = self._pieces("".join(self._parts))
        _match_emphasis(pieces)
        marked = ContentBuilder()
        text: list[str] = []
        for piece in pieces:
            if piece.kind == "text":
                text.append(piece.raw)
                continue
            marked.text("".join(text))
            text = []
            if piece.kind == "open":
                marked.open(piece.raw, piece.name)
            elif piece.kind == "close":
                marked.close(piece.raw, piece.name)
            else:
                marked.alone(piece.raw, piece.raw if piece.kind == "word" else "", breaks=piece.kind == "break")
        marked.text("".join(text))
        return marked

    def _pieces(self, text: str) -> list[_Piece]:
        pieces: list[_Piece] = []
        brackets: list[tuple[int, int]] = []  # (index of the piece, position after it) of each open bracket
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
                pieces.append(_Piece(text[start:end], "word"))
            elif kind in ("html", "math") and bisect_left(breaks, start) != bisect_left(breaks, at):
                at = start + 1  # there is no hard break inside a tag or formula
                pieces.append(_Piece(text[start:at]))
            else:
                pieces.append(_piece(kind, match.group()))
                if kind == "open":
                    brackets.append((len(pieces) - 1, at))
        pieces += self._plain(text, at, len(text), breaks)
        return [piece for piece in pieces if piece.raw]

    def _plain(self, text: str, start: int, end: int, breaks: list[int]) -> Iterator[_Piece]:
        """Yield the text and hard breaks between two tokens."""
        for position in breaks[bisect_left(breaks, start) : bisect_left(breaks, end)]:
            yield _Piece(text[start:position])
            yield _Piece(self._breaks[position], "break")
            start = position + 1
        yield _Piece(text[start:end])

    def _close_bracket(self, text: str, pieces: list[_Piece], brackets: list[tuple[int, int]], at: int) -> int:
        """Close a link at `](address)`, or at `[label]` if the label is defined; otherwise it is text."""
        if brackets:
            opened, start = brackets.pop()
            bracket = pieces[opened].raw
            if target := _TARGET.match(text, at):
                pieces[opened] = _Piece(bracket, "open", f"[{opened}")
                pieces.append(_Piece(target.group(), "close", f"[{opened}"))
                return target.end()
            if at - start <= LONGEST_LABEL and text[start:at].lower() in self.labels:
                pieces[opened:] = [_Piece(f"{bracket}{text[start:at]}]", "word")]
                return at + 1
        pieces.append(_Piece("]"))
        return at + 1


def _piece(kind: str, raw: str) -> _Piece:
    if kind == "html":
        name = _HTML_NAME.match(raw)
        if not name or raw.endswith("/>"):
            return _Piece(raw, "alone")
        return _Piece(raw, "close" if raw.startswith("</") else "open", "<" + name[1].lower())
    if kind in ("escape", "auto", "math"):
        return _Piece(raw, "word")
    if kind == "note":
        return _Piece(raw, "alone")
    return _Piece(raw, "emphasis" if kind == "emphasis" else "text")


def _match_emphasis(pieces: list[_Piece]) -> None:
    """Match emphasis runs as marks: an opening run touches the word after it, a closing one the word before it."""
    waiting: list[int] = []
    alike: dict[str, list[int]] = {}  # the same, by the characters of the run
    for index, piece in enumerate(pieces):
        if piece.kind != "emphasis":
            continue
        before = pieces[index - 1].raw[-1:] if index else ""
        after = pieces[index + 1].raw[:1] if index + 1 < len(pieces) else ""
        same = alike.setdefault(piece.raw, [])
        if before and not before.isspace() and same:
            opened = same[-1]
            while waiting and waiting[-1] >= opened:
                alike[pieces[waiting.pop()].raw].pop()
            pieces[opened] = _Piece(piece.raw, "open", f"*{opened}")
            pieces[index] = _Piece(piece.raw, "close", f"*{opened}")
        elif after and not after.isspace():
            waiting.append(index)
            same.append(index)
    for index, piece in enumerate(pieces):
        if piece.kind == "emphasis":
            pieces[index] = _Piece(piece.raw)
