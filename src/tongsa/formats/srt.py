"""Subtitles, SubRip and WebVTT: numbers, timing and settings stay; a cue keeps its number of lines and their length."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path

from tongsa.formats.segments import ContentBuilder, Options, Outcome, Segment
from tongsa.formats.spans import Encoded, Slot, SpanDocument
from tongsa.formats.wrapping import HIDDEN, balance, width

COLUMNS = 42
"""The usual limit of a subtitle line; a file with longer ones keeps its own longest."""

_TIMING = re.compile(r"[ \t]*+(?:\d++:)?\d{1,2}:\d{2}[,.]\d{1,3}[ \t]*+-->")
_LINE = re.compile(r"[^\r\n]++")
_LINE_END = re.compile(r"(?:(?<![ \t])[ \t]++)?\r?\n[ \t]*+")
_TAG = re.compile(r"<(/?)([A-Za-z]*+)[^<>]*+>|\{\\[^{}]*+\}")
_SPEAKER = re.compile(r"\s*+[-–—]\s?(?=\S)")


def open_document(data: bytes, path: Path, options: Options) -> SpanDocument:
    encoded = Encoded.read(data, path, options.encoding)
    document = SpanDocument(path, data, encoded)
    cues = list(_cues(encoded.text))
    lines = (line for _, start, end in cues for line in encoded.text[start:end].splitlines())
    longest = max((width(_TAG.sub("", line)) for line in lines), default=0)
    newline = "\r\n" if "\r\n" in encoded.text else "\n"
    for name, start, end in cues:
        document.slots += _slots(encoded.text[start:end], start, name, max(COLUMNS, longest), newline)
    return document


def _cues(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the name and span of each cue: the lines between its timing and a blank line or the next timing."""
    name = ""
    lines: list[tuple[int, int]] = []
    is_open = False
    at = 0
    for line in text.split("\n"):
        timing = _TIMING.match(line)
        if timing and lines and text[slice(*lines[-1])].strip().isdecimal():
            lines.pop()  # the number of the cue that begins here
        if timing or not line.strip(" \t\r"):
            if lines:
                yield name, lines[0][0], lines[-1][1]
            lines, is_open = [], bool(timing)
            name = line.split("-->")[0].strip()
        elif is_open:
            lines.append((at, at + len(line.rstrip("\r"))))
        at += len(line) + 1
    if lines:
        yield name, lines[0][0], lines[-1][0] + len(text[slice(*lines[-1])].rstrip())


def _slots(cue: str, start: int, name: str, columns: int, newline: str) -> Iterator[Slot]:
    """Yield one slot per cue, or one per speaker if lines begin with a dash."""
    lines = list(_LINE.finditer(cue))
    speakers = [i for i, line in enumerate(lines) if _SPEAKER.match(_TAG.sub("", line.group()))]
    borders = [*speakers, len(lines)] if speakers and speakers[0] == 0 else [0, len(lines)]
    for first, after in pairwise(borders):
        begin, stop = lines[first].start(), lines[after - 1].end()
        dash = _SPEAKER.match(cue[begin:stop]) if borders[0] in speakers else None
        begin += dash.end() if dash else 0
        marked = _marked(cue[begin:stop])
        segment = Segment(id=name, content=marked.content())
        room = columns - (width(dash.group()) if dash else 0)
        render = _renderer(after - first, room, newline)
        yield Slot(start=start + begin, end=start + stop, segment=segment, render=render, raws=marked.raws)


def _marked(raw: str) -> ContentBuilder:
    """Join the lines into one text; tags become marks."""
    raw = _LINE_END.sub(" ", raw)
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


def _renderer(lines: int, columns: int, newline: str) -> Callable[[Outcome, Sequence[str]], str]:
    def render(outcome: Outcome, tags: Sequence[str]) -> str:
        """Wrap lines, with each tag (and each such character of the text itself) as one character of no width."""
        hidden: list[str] = []
        shown: list[str] = []
        for part in outcome.content:
            if isinstance(part, str):
                hidden += HIDDEN * part.count(HIDDEN)
                shown.append(part)
            else:
                hidden.append(tags[part.number])
                shown.append(HIDDEN)
        cut = newline.join(balance("".join(shown), lines, columns))
        pieces = cut.split(HIDDEN)
        return "".join(chain.from_iterable(zip(pieces, [*hidden, ""], strict=True)))

    return render
