"""Markdown: headings, paragraphs, lists, quotes and table cells; code, links' addresses and front matter stay.

Lines are parsed into blocks, and only their text is translated; a paragraph of several lines is one segment, which is
wrapped again. Inside it, emphasis, links, code spans and HTML are marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tongsa.formats.markdown_inline import Inlines, without_code
from tongsa.formats.segments import Mark, Options, Outcome, Segment
from tongsa.formats.spans import Encoded, Lines, Slot, SpanDocument
from tongsa.formats.wrapping import BLOCK_START, width, wrap_words

FRAGILE = "*_`[]<>|\\~&%{}#$"

_FENCE = re.compile(r"(`{3,}|~{3,})")
_PREFIX = re.compile(r"(?:[ \t]*+(?:>[ \t]?|(?:[-+*]|\d{1,9}[.)])(?:[ \t]++|$)(?:\[[ xX]\][ \t]++)?))*+[ \t]*+")
_HEADING = re.compile(r"#{1,6}(?:[ \t]++|$)")
_HEADING_END = re.compile(r"(?<![ \t])[ \t]++#++$")
_UNDERLINE = re.compile(r"(?:=++|-++)[ \t]*+$")
_RULE = re.compile(r"(?:(?:\*[ \t]*+){3,}+|(?:-[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)$")
_TABLE_LINE = re.compile(r"\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$")
_DEFINITION = re.compile(r"\[(?P<label>[^\]\n^][^\]\n]*+)\]:[ \t]*+\S")
_NOTE = re.compile(r"\[\^[^\]\n]++\]:[ \t]++")
_HTML_BLOCK = re.compile(r"</?[A-Za-z][\w-]*+(?:[\s/>]|$)|<!--|<\?|<!")
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
    lines = Lines(text)
    for block in _blocks(text):
        for spans, prefix in _spans(text, block):
            document.slots += _slot(text, spans, prefix, labels, lines)
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


def _spans(text: str, block: list[Line]) -> Iterator[tuple[list[tuple[int, int]], str]]:
    """Yield the spans of each text of a block, one span per line, and the prefix of its lines after the first."""
    first = block[0]
    heading = _HEADING.match(first.body)
    if len(block) == 1 and "|" in first.body and not heading:
        for cell in _cells(first):
            yield [cell], ""
        return
    spans = []
    for line in block:
        skip = heading or _NOTE.match(line.body) if line is first else None
        start = line.start + line.prefix + (skip.end() if skip else 0)
        end = line.start + len(line.text.rstrip())
        if line is first and heading and (closing := _HEADING_END.search(text[start:end])):
            end = start + closing.start()
        spans.append((start, max(start, end)))
    yield spans, block[1].text[: block[1].prefix] if len(block) > 1 else ""


def _cells(line: Line) -> Iterator[tuple[int, int]]:
    """Split at bars that are neither escaped nor inside code."""
    at = line.prefix
    for cell in without_code(line.text)[at:].split("|"):
        inner = cell.strip()
        if inner:
            start = line.start + at + len(cell) - len(cell.lstrip())
            yield start, start + len(inner)
        at += len(cell) + 1


def _slot(text: str, spans: list[tuple[int, int]], prefix: str, labels: set[str], lines: Lines) -> Iterator[Slot]:
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
        id=lines.name(start),
        content=marked.content(),
        fragile=FRAGILE,
        accepts=lambda new: bool(BLOCK_START.match(original)) or not BLOCK_START.match(new),
    )
    yield Slot(start=start, end=end, segment=segment, render=_renderer(original, prefix), raws=marked.raws)


def _renderer(original: str, prefix: str) -> Callable[[Outcome, Sequence[str]], str]:
    newline = "\r\n" if "\r\n" in original else "\n"
    columns = max(width(line) for line in original.splitlines() or [""])

    def render(outcome: Outcome, raws: Sequence[str]) -> str:
        if "\n" not in original:
            return "".join(part if isinstance(part, str) else raws[part.number] for part in outcome.content)
        written: list[str] = []
        section: list[str | Mark] = []
        for part in (*outcome.content, None):
            if part is None or (isinstance(part, Mark) and part.breaks):
                # A hard break ends a line: the text before and after it is wrapped separately.
                written.append((newline + prefix).join(wrap_words(_words(section, raws), columns)))
                section = []
            else:
                section.append(part)
            if isinstance(part, Mark) and part.breaks:
                written.append(raws[part.number])
        return "".join(written)

    return render


def _words(content: list[str | Mark], raws: Sequence[str]) -> list[str]:
    """Split content at its white space, but not inside marks."""
    words: list[list[str]] = [[]]
    for part in content:
        if isinstance(part, Mark):
            words[-1].append(raws[part.number])
            continue
        if part[:1].isspace():
            words.append([])
        for word in part.split():
            words[-1].append(word)
            words.append([])
        if part and not part[-1].isspace():
            words.pop()
    return ["".join(word) for word in words if word]
