"""Subtitles, SubRip and WebVTT: numbers, timing and settings stay; a cue keeps its number of lines and their length."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from tongsa.formats.segments import ContentBuilder, Options, Outcome, Segment
from tongsa.formats.spans import Encoded, Slot, SpanDocument
from tongsa.formats.wrapping import HIDDEN, balance, width

COLUMNS = 42
"""The usual limit of a subtitle line; a file with longer ones keeps its own longest."""

_TIMING = re.compile(r"^[ \t]*(?:\d+:)?\d{1,2}:\d{2}[,.]\d{1,3}[ \t]*-->.*$", re.MULTILINE)
_TAG = re.compile(r"<(/?)([A-Za-z]*)[^<>]*>|\{\\[^{}]*\}")
_PRIVATE = re.compile("[\U00100000-\U0010fffd]")
_SPEAKER = re.compile(r"\s*[-–—]\s?(?=\S)")


def open_document(data: bytes, path: Path, options: Options) -> SpanDocument:
    encoded = Encoded.read(data, path, options.encoding)
    document = SpanDocument(path, data, encoded)
    cues = list(_cues(encoded.text))
    longest = max(
        (width(_TAG.sub("", line)) for _, start, end in cues for line in encoded.text[start:end].splitlines()),
        default=0,
    )
    for name, start, end in cues:
        document.slots += _slots(encoded.text, start, end, name, max(COLUMNS, longest))
    return document


def _cues(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the text between each timing line and the next blank line."""
    blank = re.compile(r"\r?\n[ \t]*\r?\n|\s*\Z")
    for match in _TIMING.finditer(text):
        start = match.end()
        while start < len(text) and text[start] in "\r":
            start += 1
        end = blank.search(text, start)
        stop = end.start() if end else len(text)
        start = start + 1 if text.startswith("\n", start) else start
        if text[start:stop].strip():
            yield match.group().strip().split("-->")[0].strip(), start, stop


def _slots(text: str, start: int, end: int, name: str, columns: int) -> Iterator[Slot]:
    """Yield one slot per cue, or one per speaker if lines begin with a dash."""
    lines = list(re.finditer(r"[^\r\n]+", text[start:end]))
    speakers = [i for i, line in enumerate(lines) if _SPEAKER.match(_TAG.sub("", line.group()))]
    borders = [*speakers, len(lines)] if speakers and speakers[0] == 0 else [0, len(lines)]
    for first, after in pairwise(borders):
        begin, stop = start + lines[first].start(), start + lines[after - 1].end()
        dash = _SPEAKER.match(text[begin:stop]) if borders[0] in speakers else None
        begin += dash.end() if dash else 0
        raw = text[begin:stop]
        marked = _marked(raw)
        segment = Segment(id=name, content=marked.content())
        room = columns - (width(dash.group()) if dash else 0)
        render = _renderer(marked.raws, after - first, room, "\r\n" if "\r\n" in text else "\n")
        yield Slot(start=begin, end=stop, segment=segment, render=render)


def _marked(raw: str) -> ContentBuilder:
    """Join the lines into one text; tags become marks."""
    raw = re.sub(r"[ \t]*\r?\n[ \t]*", " ", raw)
    marked = ContentBuilder()
    end = 0
    for match in _TAG.finditer(raw):
        marked.text(raw[end : match.start()])
        end = match.end()
        closes, name = match[1], (match[2] or "").lower()
        if closes:
            marked.close(match.group(), name)
        elif name:
            marked.open(match.group(), name)
        else:
            marked.alone(match.group())
    marked.text(raw[end:])
    return marked


def _renderer(tags: list[str], lines: int, columns: int, newline: str) -> Callable[[Outcome], str]:
    def render(outcome: Outcome) -> str:
        """Wrap lines, with each tag (and each such character of the text itself) as one character of no width."""
        hidden: list[str] = []

        def hide(shown: str) -> str:
            hidden.append(shown)
            return chr(HIDDEN + len(hidden) - 1)

        text = "".join(
            _PRIVATE.sub(lambda m: hide(m.group()), p) if isinstance(p, str) else hide(tags[p.number])
            for p in outcome.content
        )
        cut = newline.join(balance(text, lines, columns))
        return _PRIVATE.sub(lambda m: hidden[ord(m.group()) - HIDDEN], cut)

    return render
