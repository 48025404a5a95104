"""Markdown: headings, paragraphs, lists, quotes, tables, HTML, titles; code, addresses and the names of things stay.

A CommonMark parser finds the blocks (`markdown_blocks`), and only their text is translated; a paragraph of several
lines is one segment, which is wrapped again. Inside it, emphasis, links, code spans and HTML are marks
(`markdown_inline`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tongsa.formats.html import Page
from tongsa.formats.html_escapes import Escapes
from tongsa.formats.markdown_blocks import Block, Blocks, Span, read_blocks
from tongsa.formats.markdown_front import front_matter, front_slots
from tongsa.formats.markdown_inline import FRAGILE, Inlines, title_slot
from tongsa.formats.segments import Mark, Options, Outcome, Segment
from tongsa.formats.spans import Encoded, Lines, Slot, SpanDocument
from tongsa.formats.wrapping import BLOCK_START, width, wrap_words

_BLANKS = re.compile(r"[ \t\r\n]+")
"""Blanks at which a line may be broken; a no-break space is none."""
LONGEST_LEFT = 200
"""Characters that are shown of a text that is left in the source language."""


def open_document(data: bytes, path: Path, options: Options) -> SpanDocument:
    encoded = Encoded.read(data, path, options.encoding)
    document = SpanDocument(path, data, encoded)
    reader = _Reader(encoded.text, is_mdx=path.suffix.lower() == ".mdx")
    document.slots += reader.slots()
    return document


class _Reader:
    def __init__(self, text: str, *, is_mdx: bool) -> None:
        self.text, self.is_mdx = text, is_mdx
        self.name = Lines(text).name

    def slots(self) -> Iterator[Slot]:
        front = front_matter(self.text)
        if front:
            yield from front_slots(front, self.name)
        blocks = read_blocks(self.text, front.end() if front else 0, is_mdx=self.is_mdx)
        for block in blocks.found:
            yield from self._slots(block, blocks)

    def _slots(self, block: Block, blocks: Blocks) -> Iterator[Slot]:
        start, end = block.spans[0][0], block.spans[-1][1]
        if block.kind == "html":
            yield from self._html(block.spans)
        elif block.kind == "title":
            yield title_slot(self.text[start:end], start, self.name(start), self.text[end : end + 1])
        elif block.kind == "left":
            shown = " ".join(self.text[a:b] for a, b in block.spans if a < b)
            content = shown if len(shown) <= LONGEST_LEFT else f"{shown[:LONGEST_LEFT]}…"
            yield Slot.left(start, Segment(id=self.name(start), content=(content,), left=block.reason))
        else:
            yield from self._text(block.spans, blocks.labels)

    def _html(self, spans: Sequence[Span]) -> Iterator[Slot]:
        """Yield the slots of an HTML block, whose lines may have the prefixes of quotes."""
        begins = [0]
        for start, end in spans:
            begins.append(begins[-1] + end - start + 1)

        def place(at: int) -> int:
            line = min(bisect_right(begins, at) - 1, len(spans) - 1)
            return spans[line][0] + at - begins[line]

        text = "\n".join(self.text[start:end] for start, end in spans)
        newline = self._newline(spans)
        for slot in Page(text, lambda at: self.name(place(at)), FRAGILE, is_jsx=True).slots():
            yield slot.moved(place, newline)

    def _newline(self, spans: Sequence[Span]) -> str:
        """Return the line end of a block, with the prefix of its lines after the first."""
        if len(spans) < 2:
            return "\n"
        start = spans[1][0]
        line = max(self.text.rfind("\n", 0, start), self.text.rfind("\r", 0, start)) + 1
        end = self.text[max(0, line - 2) : line]
        return (end if end == "\r\n" else end[-1:]) + self.text[line:start]

    def _text(self, spans: Sequence[Span], labels: set[str]) -> Iterator[Slot]:
        text = self.text
        start, end = spans[0][0], spans[-1][1]
        inlines = Inlines(labels, self.name, self.is_mdx)
        for (a, b), (after, _) in zip(spans, [*spans[1:], (end, end)], strict=True):
            line = text[a:b]
            slash = "\\" if line.endswith("\\") and after > b else ""
            hard = slash or text.startswith("  ", b, after)
            inlines.add(line.removesuffix(slash), a, slash + text[b:after] if hard else "", last=b == end)
        marked = inlines.marked()
        if not any(isinstance(part, str) and part.strip() for part in marked.content()):
            yield from (each.slot for each in inlines.inside)
            return
        original = text[start:end]
        segment = Segment(
            id=self.name(start),
            content=marked.content(),
            fragile=FRAGILE,
            accepts=lambda new: bool(BLOCK_START.match(original)) or not BLOCK_START.match(new),
        )
        render = _renderer(original, self._newline(spans), inlines.escapes)
        yield Slot(start=start, end=end, segment=segment, render=render, raws=marked.raws, inside=inlines.inside)


def _renderer(original: str, newline: str, escapes: Escapes) -> Callable[[Outcome, Sequence[str]], str]:
    columns = max(width(line) for line in original.splitlines() or [""])

    def render(outcome: Outcome, raws: Sequence[str]) -> str:
        content = [escapes.encoded(part) if isinstance(part, str) else part for part in outcome.content]
        if len(original.splitlines()) < 2:
            return "".join(part if isinstance(part, str) else raws[part.number] for part in content)
        written: list[str] = []
        section: list[str | Mark] = []
        for part in (*content, None):
            if part is None or (isinstance(part, Mark) and part.breaks):
                # A hard break ends a line: the text before and after it is wrapped separately.
                written.append(newline.join(wrap_words(_words(section, raws), columns)))
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
        for index, word in enumerate(_BLANKS.split(part)):
            if index:
                words.append([])
            words[-1].append(word)
    return [joined for word in words if (joined := "".join(word))]
