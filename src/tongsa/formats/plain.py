"""Two aligned files, line by line: `train.en` and `train.de` (the Moses way)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, zip_longest
from pathlib import Path

from tongsa.base.containers import PACKED, is_there
from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.text.lines import read_lines


def aligned_files(prefix: Path, reading: Reading) -> tuple[Path | None, Path | None]:
    """The two files behind a prefix, each None where it is missing."""
    return _file(prefix, reading.source), _file(prefix, reading.target)


def _file(prefix: Path, language: str) -> Path | None:
    if not prefix.name or "/" in language:  # "." and "/" have no name that a language could follow
        return None
    for suffix in ("", *PACKED):
        path = prefix.with_name(f"{prefix.name}.{language}{suffix}")
        if is_there(path):
            return path
    return None


def read_aligned(prefix: Path, reading: Reading) -> Iterator[Pair]:
    source, target = aligned_files(prefix, reading)
    assert source is not None, "the reader is chosen only where both are there"
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
    """The line (from 1) at which two files, one with lines missing in one place, most likely begin to differ.

    Line i of the longer file belongs to line i of the shorter before the gap, and to line i - gap after it. The
    place where the first way of pairing should hand over to the second is where the sum of both costs is least.
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
