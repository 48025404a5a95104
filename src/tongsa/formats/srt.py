"""Subtitles, SubRip and WebVTT: numbers, timing and settings stay; a cue keeps its number of lines and their length.

A sentence that goes on in the next cues is translated as one, and split again by the lengths and times of its cues.
Notes (♪), the dashes and names of speakers stay; sounds in brackets are translated by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

from tongsa.formats.segments import ContentBuilder, Mark, Options, Outcome, Segment
from tongsa.formats.spans import Encoded, Slot, SpanDocument
from tongsa.formats.wrapping import HIDDEN, balance, split_by_shares, width

COLUMNS = 42
"""The usual limit of a subtitle line; a file with longer ones keeps its own longest."""
LONGEST_GAP = 1.5
"""Seconds between two cues of one sentence."""
MOST_CUES = 8
MOST_CHARACTERS = 600
"""Limits of what is translated as one."""
MOST_SOUNDS = 4
"""Sounds at the beginning of a cue that are translated apart."""
PUNCTUATED = 0.3
"""Share of cues with punctuation at their ends, from which a cue without it goes on in the next one."""

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[,.](\d{1,3})"
_TIMING = re.compile(r"[ \t]*+(?:\d++:)?\d{1,2}:\d{2}[,.]\d{1,3}[ \t]*+-->")
_TIMES = re.compile(rf"[ \t]*+{_TIME}[ \t]*+-->[ \t]*+{_TIME}")
_LINE = re.compile(r"[^\r\n]++")
_LINE_END = re.compile(r"(?:(?<![ \t])[ \t]++)?\r?\n[ \t]*+")
_TAG = re.compile(r"<(/?)([A-Za-z]*+)[^<>]*+>|\{\\[^{}]*+\}")
_SPEAKER = re.compile(r"\s*+[-–—]\s?(?=\S)")
_WRAPPED = re.compile(r"<([A-Za-z]++)[^<>]*+>([^<>]*+)</\1>\s*+$")
_BEFORE = re.compile(
    r"(?:\{\\[^{}]*+\}|[♪♫¶\s]|#(?=\s)|>>)++|[A-Z][A-Z0-9.'&-]{1,29}(?: [A-Z0-9.'&-]{1,29}){0,3}:\s++(?=\S)"
)
"""What stands before the words: positions, notes, the name of the speaker in capital letters."""
_AFTER = re.compile(r"(?<![♪♫¶\s])[♪♫¶\s]++(?:#\s*+)?$")
_SOUND = re.compile(r"\[([^\[\]\n]{1,80})\]|\(([^()\n]{1,80})\)")
_ENDS = ".!?…。！？:;♪—–-"
"""Signs at the end of a sentence, or of what is said of it."""


@dataclass(frozen=True)
class Cue:
    name: str
    start: int
    end: int
    begins: float
    """Seconds."""
    ends: float


@dataclass(frozen=True)
class Part:
    """A text within a cue: what one speaker says, or a sound."""

    cue: Cue
    start: int
    end: int
    room: int
    """Columns that something before it takes on its first line."""
    is_sound: bool = False


def open_document(data: bytes, path: Path, options: Options) -> SpanDocument:
    encoded = Encoded.read(data, path, options.encoding)
    document = SpanDocument(path, data, encoded)
    text = encoded.text
    cues = list(_cues(text))
    lines = (line for cue in cues for line in text[cue.start : cue.end].splitlines())
    longest = max((width(_TAG.sub("", line)) for line in lines), default=0)
    columns = max(COLUMNS, longest)
    newline = "\r\n" if "\r\n" in text else "\n"
    for group in _groups(text, [list(_parts(text, cue)) for cue in cues]):
        document.slots.append(_slot(text, group, columns, newline))
    return document


def _cues(text: str) -> Iterator[Cue]:
    """Yield the cues: the lines between a timing and a blank line or the next timing."""
    timing = ""
    lines: list[tuple[int, int]] = []
    is_open = False
    at = 0
    for line in text.split("\n"):
        begins = _TIMING.match(line)
        if begins and lines and text[slice(*lines[-1])].strip().isdecimal():
            lines.pop()  # the number of the cue that begins here
        if begins or not line.strip(" \t\r"):
            if lines:
                yield _cue(timing, lines[0][0], lines[-1][1])
            lines, is_open = [], bool(begins)
            timing = line
        elif is_open:
            lines.append((at, at + len(line.rstrip("\r"))))
        at += len(line) + 1
    if lines:
        yield _cue(timing, lines[0][0], lines[-1][0] + len(text[slice(*lines[-1])].rstrip()))


def _cue(timing: str, start: int, end: int) -> Cue:
    times = _TIMES.match(timing)
    numbers = [int(each or 0) for each in times.groups()] if times else [0] * 8
    begins, ends = (h * 3600 + m * 60 + s + f / 1000 for h, m, s, f in (numbers[:4], numbers[4:]))
    return Cue(timing.split("-->")[0].strip(), start, end, begins, ends)


def _parts(text: str, cue: Cue) -> Iterator[Part]:
    """Yield the texts of a cue: one for each speaker if lines begin with a dash, sounds in brackets apart."""
    lines = list(_LINE.finditer(text, cue.start, cue.end))
    speakers = [i for i, line in enumerate(lines) if _SPEAKER.match(_TAG.sub("", line.group()))]
    borders = [*speakers, len(lines)] if speakers and speakers[0] == 0 else [0, len(lines)]
    for first, after in pairwise(borders):
        start, end = lines[first].start(), lines[after - 1].end()
        dash = _SPEAKER.match(text, start, end) if borders[0] in speakers else None
        yield from _words(text, cue, (dash.end() if dash else start), end, width(dash.group()) if dash else 0)


def _words(text: str, cue: Cue, start: int, end: int, room: int) -> Iterator[Part]:
    """Leave out what stands around the words, and yield sounds before and after them apart."""
    for _ in range(3):  # a tag around notes around a name
        if around := _WRAPPED.match(text, start, end):
            start, end = around.span(2)
        if signs := _BEFORE.match(text, start, end):
            start = signs.end()
        if signs := _AFTER.search(text[start:end]):
            end = start + signs.start()
    sounds: list[Part] = []
    while len(sounds) < MOST_SOUNDS and (sound := _SOUND.match(text, start, end)):
        after = text[sound.end() : sound.end() + 1] if sound.end() < end else " "
        if not after.isspace() and after != ":":
            break
        sounds.append(Part(cue, *sound.span(sound.lastindex or 1), 0, is_sound=True))
        start = min(end, sound.end() + 1)
        start += len(text[start:end]) - len(text[start:end].lstrip())
    yield from sounds
    last = next((each for each in _SOUND.finditer(text, start, end) if each.end() == end), None)
    if last and last.start() > start and text[last.start() - 1].isspace():
        yield Part(cue, start, last.start() - 1, room)
        yield Part(cue, *last.span(last.lastindex or 1), 0, is_sound=True)
    elif start < end:
        yield Part(cue, start, end, room)


def _groups(text: str, cues: Sequence[Sequence[Part]]) -> Iterator[list[Part]]:
    """Yield the parts one by one, and those of a sentence over several cues together."""
    ended = [_is_ended(text[parts[-1].start : parts[-1].end]) for parts in cues if parts]
    punctuated = len(ended) > 3 and sum(ended) >= PUNCTUATED * len(ended)
    group: list[Part] = []
    for parts in cues:
        alone = len(parts) == 1 and not parts[0].is_sound
        if group and not (alone and _goes_on(text, group, parts[0], punctuated)):
            yield group
            group = []
        if alone:
            group.append(parts[0])
        else:
            yield from ([part] for part in parts)
    if group:
        yield group


def _is_ended(text: str) -> bool:
    return text.endswith((")", "]")) or text.rstrip("\"'”’»)]")[-1:] in tuple(_ENDS) or not text.strip()


def _goes_on(text: str, group: Sequence[Part], new: Part, punctuated: bool) -> bool:
    """Return True if a sentence goes on in the next cue."""
    last = group[-1]
    above, below = text[last.start : last.end], text[new.start : new.end]
    if last.room or new.room or len(group) == MOST_CUES or new.end - group[0].start > MOST_CHARACTERS:
        return False
    if not -0.5 <= new.cue.begins - last.cue.ends <= LONGEST_GAP or _is_ended(above):
        return False
    first = next(iter(_TAG.sub("", below).lstrip(" \"'“‘«„")), "")
    return first.islower() or ((punctuated or above.endswith((",", "，", "、"))) and first.isalnum())


def _slot(text: str, group: Sequence[Part], columns: int, newline: str) -> Slot:
    marked = _marked(" ".join(text[part.start : part.end] for part in group))
    start, end = group[0].start, group[-1].end
    content = marked.content()
    if group[0].is_sound and text[start:end].isupper():  # a model knows words in small letters better
        content = tuple(part.capitalize() if isinstance(part, str) else part for part in content)
    segment = Segment(id=group[0].cue.name, content=content)
    return Slot(
        start=start, end=end, segment=segment, render=_renderer(text, group, columns, newline), raws=marked.raws
    )


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


def _renderer(text: str, group: Sequence[Part], columns: int, newline: str) -> Callable[[Outcome, Sequence[str]], str]:
    between = [text[above.end : below.start] for above, below in pairwise(group)]
    originals = [text[part.start : part.end] for part in group]
    is_shouted = group[0].is_sound and originals[0].isupper()
    lengths = [width(_TAG.sub("", original)) for original in originals]
    times = [max(0.0, part.cue.ends - part.cue.begins) for part in group]
    shares = [(a / (sum(lengths) or 1) + b / (sum(times) or 1)) / 2 for a, b in zip(lengths, times, strict=True)]

    def render(outcome: Outcome, tags: Sequence[str]) -> str:
        """Wrap lines, with each tag (and each such character of the text itself) as one character of no width."""
        hidden: list[str] = []
        shown: list[str] = []
        for part in outcome.content:
            if isinstance(part, Mark):
                hidden.append(tags[part.number])
                shown.append(HIDDEN)
            else:
                hidden += HIDDEN * part.count(HIDDEN)
                shown.append(part.upper() if is_shouted else part)
        pieces = split_by_shares("".join(shown), shares)
        cut = [
            newline.join(balance(piece, len(original.splitlines()), columns - part.room))
            for piece, original, part in zip(pieces, originals, group, strict=True)
        ]
        cut = "".join(chain.from_iterable(zip(cut, [*between, ""], strict=True))).split(HIDDEN)
        return "".join(chain.from_iterable(zip(cut, [*hidden, ""], strict=True)))

    return render
