"""Long text into lines again: no line longer than it was in the source, and none that begins like something else."""

from __future__ import annotations

import re
import unicodedata

HIDDEN = 0x100000
"""From here on, characters of the last private plane stand for tags, which take no room."""

BLOCK_START = re.compile(r"(?:[-+*>#|=~]|\d+[.)]|```)")
"""What Markdown, and a reader, takes for the beginning of a list, a heading or a rule."""


def width(text: str) -> int:
    """Columns that a text takes: Hangul, kana and Chinese characters take two."""
    return sum(_width(c) for c in text)


def _width(character: str) -> int:
    if character >= chr(HIDDEN) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def wrap(text: str, columns: int) -> list[str]:
    """Lines of at most so many columns where words allow it.

    No line after the first begins with what Markdown or a reader would take for a list or a heading.
    """
    lines: list[str] = []
    for word in text.split():
        if lines and (width(lines[-1]) + 1 + width(word) <= columns or BLOCK_START.match(word)):
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines or [""]


def balance(text: str, lines: int, columns: int) -> list[str]:
    """As many lines as asked for, about equally long; more where they would be longer than `columns`.

    Text without blanks is cut between characters.
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
