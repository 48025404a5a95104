"""Line wrapping: no line is longer than in the source, and none begins like a list or heading."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate

HIDDEN = "\U00100000"
"""Represents a tag, which has no width; which tag is known from the order of these characters."""

BLOCK_START = re.compile(r"(?:[-+*>#|=~:]|\d++[.)]|```|!!!|\?\?\?|\$\$)")
"""Matches the beginning of a list, a heading, a rule, a definition, a container or a formula in Markdown."""


def width(text: str) -> int:
    """Return the width of a text in columns; Hangul, kana and Chinese characters have two."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(character: str) -> int:
    if character == HIDDEN or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def wrap(text: str, columns: int) -> list[str]:
    """Wrap into lines of at most `columns` columns, if the words allow it."""
    return wrap_words(text.split(), columns)


def wrap_words(words: Iterable[str], columns: int) -> list[str]:
    """Put words into lines; no line after the first begins like a list or a heading in Markdown."""
    lines: list[list[str]] = []
    used = 0
    for word in words:
        needed = width(word)
        if lines and (used + 1 + needed <= columns or BLOCK_START.match(word)):
            lines[-1].append(word)
            used += 1 + needed
        else:
            lines.append([word])
            used = needed
    return [" ".join(line) for line in lines] or [""]


def balance(text: str, lines: int, columns: int) -> list[str]:
    """Wrap into the given number of lines of similar length, or more if they would exceed `columns`.

    Text without spaces is cut between characters.
    """
    words = text.split()
    text = " ".join(words)
    whole = width(text)
    needed = max(lines, -(-whole // max(1, columns)))
    if needed <= 1 or whole <= columns // 2:
        return [text]
    target = -(-whole // needed)
    limits = range(target, max(columns, target) + 1)

    def cut(limit: int) -> list[str]:
        return wrap_words(words, limit) if len(words) > 1 else _cut(text, limit)

    # A higher limit never needs more lines: the first that needs few enough is found by halving.
    first = bisect_left(limits, True, key=lambda limit: len(cut(limit)) <= needed)
    return cut(limits[first] if first < len(limits) else columns)


def _cut(text: str, columns: int) -> list[str]:
    lines: list[list[str]] = [[]]
    used = 0
    for character in text:
        if used + _width(character) > columns and character not in "。、，．！？」』）!?,.)":
            lines.append([])
            used = 0
        lines[-1].append(character)
        used += _width(character)
    return ["".join(line) for line in lines]


def split_by_shares(text: str, shares: Sequence[float]) -> list[str]:
    """Split a text into as many parts as there are shares of its width, between words, best after punctuation.

    Text without spaces is split between characters. If there are fewer words than parts, the last is repeated.
    """
    count = len(shares)
    if count == 1:
        return [text]
    words = text.split()
    blank = " "
    if len(words) < count and len(text) >= 2 * count and width(text) > len(text):
        words, blank = list("".join(words)), ""
    if len(words) <= count:
        return [words[min(at, len(words) - 1)] if words else "" for at in range(count)]
    ends = list(accumulate(width(word) + len(blank) for word in words))
    usual = ends[-1] / count
    parts, first, wanted = [], 0, 0.0
    for number, share in enumerate(shares[:-1], 1):
        wanted += share * ends[-1]
        places = range(first + 1, len(words) - (count - number) + 1)
        last = min(places, key=lambda at: abs(ends[at - 1] - wanted) - usual * _pause(words[at - 1], words[at]))
        parts.append(blank.join(words[first:last]))
        first = last
    return [*parts, blank.join(words[first:])]


def _pause(before: str, after: str) -> float:
    """Return how good a place is to split at, as a share of a part's width."""
    sign = before.replace(HIDDEN, "")[-1:]
    if after[:1] in "。、，．！？」』）!?,.)":
        return -1.0
    return 0.35 if sign in tuple(".!?…。！？") else 0.2 if sign in tuple(",;:，、—–") else 0.0
