"""Line wrapping: no line is longer than in the source, and none begins like a list or heading."""

from __future__ import annotations

import re
import unicodedata

HIDDEN = 0x100000
"""First of the private-use characters that represent tags, which have no width."""

BLOCK_START = re.compile(r"(?:[-+*>#|=~]|\d+[.)]|```)")
"""Matches the beginning of a list, a heading or a rule in Markdown."""


def width(text: str) -> int:
    """Return the width of a text in columns; Hangul, kana and Chinese characters have two."""
    return sum(_width(c) for c in text)


def _width(character: str) -> int:
    if character >= chr(HIDDEN) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def wrap(text: str, columns: int) -> list[str]:
    """Wrap into lines of at most `columns` columns, if the words allow it.

    No line after the first begins like a list or a heading in Markdown.
    """
    lines: list[str] = []
    for word in text.split():
        if lines and (width(lines[-1]) + 1 + width(word) <= columns or BLOCK_START.match(word)):
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines or [""]


def balance(text: str, lines: int, columns: int) -> list[str]:
    """Wrap into the given number of lines of similar length, or more if they would exceed `columns`.

    Text without spaces is cut between characters.
    """
    text = " ".join(text.split())
    needed = max(lines, -(-width(text) // max(1, columns)))
    if needed <= 1 or width(text) <= columns // 2:
        return [text]
    target = -(-width(text) // needed)
    for limit in range(target, max(columns, target) + 1):
        cut = wrap(text, limit) if " " in text else _cut(text, limit)
        if len(cut) <= needed:
            return cut
    return wrap(text, columns) if " " in text else _cut(text, columns)


def _cut(text: str, columns: int) -> list[str]:
    lines = [""]
    for character in text:
        if width(lines[-1]) + width(character) > columns and character not in "。、，．！？」』）!?,.)":
            lines.append("")
        lines[-1] += character
    return lines
