"""Markdown: headings, paragraphs, lists, quotes and table cells; code, links' addresses and front matter stay.

Lines are parsed into blocks, and only their text is translated; a paragraph of several lines is one segment, which is
wrapped again. Inside it, emphasis, links, code spans and HTML are marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tongsa.formats.segments import ContentBuilder, Options, Outcome, Segment
from tongsa.formats.spans import Encoded, Slot, SpanDocument, line_of
from tongsa.formats.wrapping import BLOCK_START, width, wrap

FRAGILE = "*_`[]<>|\\~&%{}#$"

_FENCE = re.compile(r"(`{3,}|~{3,})")
_PREFIX = re.compile(r"(?:[ \t]*(?:>[ \t]?|(?:[-+*]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[[ xX]\][ \t]+)?))*[ \t]*")
_HEADING = re.compile(r"#{1,6}(?:[ \t]+|$)")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*$")
_RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_TABLE_LINE = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_DEFINITION = re.compile(r"\[(?P<label>[^\]\n^][^\]\n]*)\]:[ \t]*\S")
_NOTE = re.compile(r"\[\^[^\]\n]+\]:[ \t]+")
_HTML_BLOCK = re.compile(r"</?[A-Za-z][\w-]*(?:[\s/>]|$)|<!--|<\?|<!")
_FRONT = re.compile(r"\A(---|\+\+\+)[ \t]*\r?\n.*?^\1[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Line:
    start: int
    text: str
    """The line without its end."""
    prefix: int
    """Length of the prefix: quote and list markers, and white space."""

    @property
    def body(self) -> str:
        return self.text[self.prefix :]

    @property
    def begins_item(self) -> bool:
        return bool(re.search(r"(?:[-+*]|\d[.)])[ \t]", self.text[: self.prefix]))


def open_document(data: bytes, path: Path, options: Options) -> SpanDocument:
    encoded = Encoded.read(data, path, options.encoding)
    text = encoded.text
    document = SpanDocument(path, data, encoded)
    labels = {m["label"].lower() for m in re.finditer(r"^ {0,3}" + _DEFINITION.pattern, text, re.MULTILINE)}
    for block in _blocks(text):
        document.slots += _slots(text, block, labels)
    return document


def _lines(text: str) -> list[Line]:
    front = _FRONT.match(text)
    at = front.end() if front else 0
    lines = []
    for match in re.finditer(r"[^\n]*\n|[^\n]+$", text[at:]):
        raw = match.group().rstrip("\r\n")
        prefix = _PREFIX.match(raw)
        lines.append(Line(at + match.start(), raw, prefix.end() if prefix else 0))
    return lines


def _blocks(text: str) -> Iterator[list[Line]]:
    """Yield groups of lines that form one paragraph, heading or table row."""
    group: list[Line] = []
    fence = ""
    in_html = False
    was_blank = True
    for line in _lines(text):
        body = line.body
        opened = _FENCE.match(body)
        if fence:
            if opened and opened[1].startswith(fence) and not body[opened.end() :].strip():
                fence = ""
            continue
        if opened and "`" not in body[opened.end() :]:
            fence = opened[1]
        in_html = (in_html or (was_blank and not group and bool(_HTML_BLOCK.match(body)))) and bool(body.strip())
        is_code = was_blank and not group and _is_indented(line)
        stands_alone = bool(_HEADING.match(body) or "|" in body)
        is_text = not (fence or in_html or is_code) and _is_text(body, bool(group))
        if group and (not is_text or stands_alone or line.begins_item or _NOTE.match(body)):
            yield group
            group = []
        if is_text:
            group.append(line)
            if stands_alone:
                yield group
                group = []
        was_blank = not body.strip() or (is_code and not is_text)
    if group:
        yield group


def _is_indented(line: Line) -> bool:
    """Return True for indented code outside lists; inside a list, indentation means a paragraph of an item."""
    return bool(re.match(r"(?: {4}|\t)", line.text)) and not line.begins_item


def _is_text(body: str, below_text: bool) -> bool:
    if not body.strip() or _RULE.match(body) or _DEFINITION.match(body):
        return False
    if below_text and _UNDERLINE.match(body):
        return False
    return not ("-" in body and _TABLE_LINE.match(body))


def _slots(text: str, block: list[Line], labels: set[str]) -> Iterator[Slot]:
    first = block[0]
    if len(block) == 1 and "|" in first.body and not _HEADING.match(first.body):
        for start, end in _cells(first):
            yield from _slot(text, [(start, end)], "", labels)
        return
    spans = []
    for line in block:
        skip = _HEADING.match(line.body) or _NOTE.match(line.body) if line is first else None
        start = line.start + line.prefix + (skip.end() if skip else 0)
        end = line.start + len(line.text.rstrip())
        if line is first and _HEADING.match(line.body):
            end -= len(text[start:end]) - len(re.sub(r"[ \t]+#+$", "", text[start:end]))
        spans.append((start, max(start, end)))
    second = block[1].text[: block[1].prefix] if len(block) > 1 else ""
    yield from _slot(text, spans, second, labels)


def _cells(line: Line) -> Iterator[tuple[int, int]]:
    """Split at bars that are neither escaped nor inside code."""
    at = line.prefix
    body = re.sub(r"\\.|(`+)[^`]*\1", lambda m: "x" * len(m.group()), line.text)
    for cell in body[at:].split("|"):
        inner = cell.strip()
        if inner:
            start = line.start + at + len(cell) - len(cell.lstrip())
            yield start, start + len(inner)
        at += len(cell) + 1


def _slot(text: str, spans: list[tuple[int, int]], prefix: str, labels: set[str]) -> Iterator[Slot]:
    start, end = spans[0][0], spans[-1][1]
    inlines = Inlines(labels)
    for (a, b), (after, _) in zip(spans, [*spans[1:], (end, end)], strict=True):
        line = text[a:b]
        slash = "\\" if line.endswith("\\") and after > b else ""
        hard = slash or text.startswith("  ", b, after)
        inlines.add(line.removesuffix(slash), slash + text[b:after] if hard else "", last=b == end)
    marked = inlines.marked()
    if not any(isinstance(part, str) and part.strip() for part in marked.content()):
        return
    original = text[start:end]
    segment = Segment(
        id=line_of(text, start),
        content=marked.content(),
        fragile=FRAGILE,
        accepts=lambda new: bool(BLOCK_START.match(original)) or not BLOCK_START.match(new),
    )
    yield Slot(start=start, end=end, segment=segment, render=_renderer(marked.raws, original, prefix))


def _renderer(raws: list[str], original: str, prefix: str) -> Callable[[Outcome], str]:
    newline = "\r\n" if "\r\n" in original else "\n"
    columns = max(width(line) for line in original.splitlines() or [""])

    def render(outcome: Outcome) -> str:
        parts = (p if isinstance(p, str) else raws[p.number].replace(" ", "\x00") for p in outcome.content)
        shown = "".join(parts)
        if "\n" in original:
            # A hard break ends a line: the text before and after it is wrapped separately.
            breaks = re.split(r"((?:\\|\x00\x00+)?\r?\n[ \t>\x00]*)", shown)
            shown = "".join(
                part if i % 2 else (newline + prefix).join(wrap(part, columns)) for i, part in enumerate(breaks)
            )
        return shown.replace("\x00", " ")

    return render


_INLINE_TOKEN = re.compile(
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
    """Collects the lines of a paragraph and parses them as one text."""

    labels: set[str]
    """Labels defined in the document, which make `[label]` a link."""
    _text: str = ""
    _hard: list[str] = field(default_factory=list)

    def add(self, line: str, hard_break: str, *, last: bool) -> None:
        self._text += line.replace("\x01", "")
        if hard_break:
            self._text += f"\x01{len(self._hard)}\x01"
            self._hard.append(hard_break)
        elif not last:
            self._text += " "

    def marked(self) -> ContentBuilder:
        pieces = self._pieces()
        self._match_emphasis(pieces)
        marked = ContentBuilder()
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
        while match := _INLINE_TOKEN.search(self._text, at):
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
        """Close a link at `](address)`, or at `[label]` if the label is defined; otherwise it is text."""
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
        """Match emphasis runs as marks: an opening run touches the word after it, a closing one the word before it."""
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
