"""Plain text: two aligned files as a corpus (`train.en` and `train.de`, the Moses way), one file as a document.

In a document, paragraphs of wrapped lines are translated as a unit and wrapped again; other lines one by one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import accumulate, zip_longest
from pathlib import Path

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Pair, Place, Reading, aligned_files
from tongsa.formats.segments import Options, Outcome, Segment
from tongsa.formats.spans import Encoded, Lines, Slot, SpanDocument
from tongsa.formats.wrapping import width, wrap
from tongsa.formats.writers import WritePair, one_line, text_file
from tongsa.text.lines import read_lines

WRAPPED = range(50, 101)
"""A line with at least this many columns and text below it was wrapped: its sentence continues on the next line."""

_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n|$)")
_LINE_END = re.compile(r"(?:(?<![ \t])[ \t]++)?(?:\r\n|\r|\n)[ \t]*+")
_BULLET = re.compile(r"\s*+(?:[-+*•–]|\d{1,3}[.)]|\([a-z\d]\)|>)\s")


def read_pairs(prefix: Path, reading: Reading) -> Iterator[Pair]:
    source, target = aligned_files(prefix, reading)
    assert source is not None, "this reader is chosen only if both files exist"
    assert target is not None
    lines = zip_longest(read_lines(source, reading.encoding), read_lines(target, reading.encoding))
    for number, (left, right) in enumerate(lines, 1):
        if left is None or right is None:
            raise _misaligned(source, target, reading)
        yield Pair(left, right, Place(source, number))


def _misaligned(source: Path, target: Path, reading: Reading) -> CorpusError:
    lengths = [[len(line) for line in read_lines(path, reading.encoding)] for path in (source, target)]
    near = where_lengths_part(*lengths)
    return CorpusError(
        f"{source} has {len(lengths[0]):,} lines, {target} has {len(lengths[1]):,}",
        f"The two must be aligned line by line. Lengths stop agreeing near line {near:,}.",
        f"Look at them side by side:  paste {source} {target} | sed -n '{max(1, near - 3)},{near + 3}p'",
    )


def where_lengths_part(left: list[int], right: list[int]) -> int:
    """Estimate the line (from 1) where two files begin to differ, if one of them lacks lines in one place.

    Line i of the longer file belongs to line i of the shorter before the gap, and to line i - gap after it. The
    gap is where switching from the first pairing to the second gives the least total cost.
    """
    longer, shorter = (left, right) if len(left) >= len(right) else (right, left)
    gap = len(longer) - len(shorter)
    ratio = (sum(longer) + 1) / (sum(shorter) + 1)

    def cost(a: int, b: int) -> float:
        return abs(a - ratio * b) / (a + ratio * b + 1)

    before = accumulate((cost(longer[i], shorter[i]) for i in range(len(shorter))), initial=0.0)
    after = list(accumulate((cost(longer[i + gap], shorter[i]) for i in reversed(range(len(shorter)))), initial=0.0))
    totals = [head + tail for head, tail in zip(before, reversed(after), strict=True)]
    return totals.index(min(totals)) + 1


@contextmanager
def write_pairs(prefix: Path, reading: Reading, changed: Counter[str]) -> Iterator[WritePair]:
    packed = prefix.suffix if prefix.suffix.lower() in (".gz", ".xz", ".bz2") else ""
    name = prefix.name.removesuffix(packed)
    with ExitStack() as stack:
        left, right = (
            stack.enter_context(text_file(prefix.with_name(f"{name}.{language}{packed}")))
            for language in (reading.source, reading.target)
        )

        def write(pair: Pair) -> None:
            left.write(one_line(pair.source, changed) + "\n")
            right.write(one_line(pair.target, changed) + "\n")

        yield write


def open_document(data: bytes, path: Path, options: Options) -> SpanDocument:
    encoded = Encoded.read(data, path, options.encoding)
    document = SpanDocument(path, data, encoded)
    lines = Lines(encoded.text)
    document.slots = [
        _slot(encoded.text[start:end], start, lines.name(start)) for start, end in _paragraphs(encoded.text)
    ]
    return document


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans without surrounding white space."""
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
    # The line was wrapped because the first word of the next line would not have fitted.
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


def _slot(original: str, start: int, name: str) -> Slot:
    segment = Segment(id=name, content=(_LINE_END.sub(" ", original),))
    return Slot(
        start=start,
        end=start + len(original),
        segment=segment,
        render=lambda outcome, _: _rendered(outcome, original),
    )


def _rendered(outcome: Outcome, original: str) -> str:
    first = re.search(r"(?:\r\n|\r|\n)[ \t]*", original)
    if not first:
        return outcome.text
    columns = max(width(line) for line in original.splitlines()[:-1])
    return first.group().join(wrap(outcome.text, columns))
