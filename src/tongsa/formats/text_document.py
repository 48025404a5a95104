"""Plain text: paragraphs of wrapped lines are translated as one and wrapped again; other lines one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tongsa.formats.segments import Options, Outcome, Segment
from tongsa.formats.spans import Encoded, Slot, SpanDocument, line_of
from tongsa.formats.wrapping import width, wrap

WRAPPED = range(50, 101)
"""A line of so many columns, with more text below it, was broken to fit: its sentence goes on in the next line."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_BULLET = re.compile(r"\s*(?:[-+*•–]|\d{1,3}[.)]|\([a-z\d]\)|>)\s")


def read_text(data: bytes, path: Path, options: Options) -> SpanDocument:
    encoded = Encoded.read(data, path, options.encoding)
    document = SpanDocument(path, data, encoded)
    document.slots = [_slot(encoded.text, start, end) for start, end in _paragraphs(encoded.text)]
    return document


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Spans without the white space around them."""
    lines = [match for match in _LINE.finditer(text) if match.group()]
    group: list[re.Match[str]] = []
    for line in lines:
        if group and not _goes_on(group[-1].group(), line.group()):
            yield from _span(text, group)
            group = []
        group.append(line)
    yield from _span(text, group)


def _goes_on(above: str, below: str) -> bool:
    if not above.strip() or not below.strip() or _BULLET.match(below):
        return False
    if width(above.rstrip()) not in WRAPPED or (_indent(below) != _indent(above) and not _BULLET.match(above)):
        return False
    # The first word below would not have fitted above: that is why the line was broken.
    return width(above.rstrip()) + 1 + width(below.split()[0]) > 60


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _span(text: str, group: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
    if not group:
        return
    start, end = group[0].start(), group[-1].end()
    whole = text[start:end]
    if whole.strip():
        bullet = _BULLET.match(whole)
        left = bullet.end() if bullet else len(whole) - len(whole.lstrip())
        if whole[left:].strip():
            yield start + left, start + len(whole.rstrip())


def _slot(text: str, start: int, end: int) -> Slot:
    original = text[start:end]
    content = re.sub(r"[ \t]*(?:\r\n|\r|\n)[ \t]*", " ", original)
    segment = Segment(id=line_of(text, start), content=(content,))
    return Slot(start=start, end=end, segment=segment, render=lambda outcome: _rendered(outcome, original))


def _rendered(outcome: Outcome, original: str) -> str:
    first = re.search(r"(?:\r\n|\r|\n)[ \t]*", original)
    if not first:
        return outcome.text
    columns = max(width(line) for line in original.splitlines()[:-1])
    return first.group().join(wrap(outcome.text, columns))
