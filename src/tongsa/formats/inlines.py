"""What Markdown has inside of a paragraph: emphasis, links, code spans, HTML, escapes, as marks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tongsa.formats.marked import Marked

_TOKEN = re.compile(
    r"(?P<hard>\x01\d+\x01)"
    r"|(?P<code>(?<!`)(`+)(?!`)(?:[^`]|(?!\3(?!`))`+)*?(?<!`)\3(?!`))"
    r"|(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<auto><(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>]+)>)"
    r"|(?P<html></?[A-Za-z][\w-]*(?:\s+[\w:.-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>=`]+))?)*\s*/?>|<!--.*?-->)"
    r"|(?P<math>\$\$[^$]+\$\$|\$(?=[^\s$])[^$\n]*[^\s$\\]\$(?!\d))"
    r"|(?P<note>\[\^[^\]\s]+\])"
    r"|(?P<open>!?\[)"
    r"|(?P<close>\])"
    r"|(?P<emphasis>\*{1,3}|(?<![^\W_])_{1,3}|_{1,3}(?![^\W_])|~~)",
    re.DOTALL,
)
_TARGET = re.compile(r"\]\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)|\]\[[^\]\n]*\]", re.DOTALL)


@dataclass
class _Piece:
    raw: str
    kind: str = "text"
    name: str = ""


@dataclass
class Inlines:
    """Lines of a paragraph, gathered and then read as one text."""

    labels: set[str]
    """Labels that are defined somewhere: `[label]` is a link then."""
    _text: str = ""
    _hard: list[str] = field(default_factory=list)

    def add(self, line: str, hard_break: str, *, last: bool) -> None:
        self._text += line.replace("\x01", "")
        if hard_break:
            self._text += f"\x01{len(self._hard)}\x01"
            self._hard.append(hard_break)
        elif not last:
            self._text += " "

    def marked(self) -> Marked:
        pieces = self._pieces()
        self._match_emphasis(pieces)
        marked = Marked()
        text = ""
        for piece in pieces:
            if piece.kind == "text":
                text += piece.raw
                continue
            marked.text(text)
            text = ""
            if piece.kind == "open":
                marked.open(piece.raw, piece.name)
            elif piece.kind == "close":
                marked.close(piece.raw, piece.name)
            else:
                marked.alone(piece.raw, piece.raw if piece.kind == "word" else "", breaks=piece.kind == "break")
        marked.text(text)
        return marked

    def _pieces(self) -> list[_Piece]:
        pieces: list[_Piece] = []
        brackets: list[int] = []
        at = 0
        while match := _TOKEN.search(self._text, at):
            pieces.append(_Piece(self._text[at : match.start()]))
            at = match.end()
            kind = match.lastgroup or ""
            if kind == "close":
                at = self._close_bracket(pieces, brackets, match.start())
                continue
            pieces.append(self._piece(kind, match.group()))
            if kind == "open":
                brackets.append(len(pieces) - 1)
        pieces.append(_Piece(self._text[at:]))
        return [piece for piece in pieces if piece.raw]

    def _piece(self, kind: str, raw: str) -> _Piece:
        if kind == "hard":
            return _Piece(self._hard[int(raw[1:-1])], "break")
        if kind == "html":
            name = re.match(r"</?([\w-]+)", raw)
            if not name or raw.endswith("/>"):
                return _Piece(raw, "alone")
            return _Piece(raw, "close" if raw.startswith("</") else "open", "<" + name[1].lower())
        if kind in ("code", "escape", "auto", "math"):
            return _Piece(raw, "word")
        if kind == "note":
            return _Piece(raw, "alone")
        return _Piece(raw, "emphasis" if kind == "emphasis" else "text")

    def _close_bracket(self, pieces: list[_Piece], brackets: list[int], at: int) -> int:
        """`](address)` makes a link of what is open; `[label]` is one if the label is defined; else it is text."""
        target = _TARGET.match(self._text, at)
        if brackets and target:
            opened = brackets.pop()
            pieces[opened] = _Piece(pieces[opened].raw, "open", f"[{opened}")
            pieces.append(_Piece(target.group(), "close", f"[{opened}"))
            return target.end()
        if brackets:
            opened = brackets.pop()
            inner = "".join(piece.raw for piece in pieces[opened + 1 :])
            if inner.lower() in self.labels:
                pieces[opened:] = [_Piece(f"{pieces[opened].raw}{inner}]", "word")]
                return at + 1
        pieces.append(_Piece("]"))
        return at + 1

    def _match_emphasis(self, pieces: list[_Piece]) -> None:
        """An opening run touches the word after it, a closing one the word before it; runs that pair up are marks."""
        waiting: list[int] = []
        for index, piece in enumerate(pieces):
            if piece.kind != "emphasis":
                continue
            before = pieces[index - 1].raw[-1:] if index else ""
            after = pieces[index + 1].raw[:1] if index + 1 < len(pieces) else ""
            can_open = bool(after) and not after.isspace()
            can_close = bool(before) and not before.isspace()
            matches = [i for i in waiting if pieces[i].raw == piece.raw]
            if can_close and matches:
                opened = matches[-1]
                pieces[opened] = _Piece(piece.raw, "open", f"*{opened}")
                pieces[index] = _Piece(piece.raw, "close", f"*{opened}")
                waiting = [i for i in waiting if i < opened]
            elif can_open:
                waiting.append(index)
        for index, piece in enumerate(pieces):
            if piece.kind == "emphasis":
                pieces[index] = _Piece(piece.raw)
