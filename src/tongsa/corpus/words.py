"""Words as a cheap comparison needs them: lower case, endings cut off, scripts without blanks in small pieces."""

from __future__ import annotations

import re

LONGEST = 60
"""Words of a text that are looked at."""
STEM = 6

_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_NUMBERS = re.compile(r"\d+(?:[.,'\u00a0\u202f ](?=\d{3}(?!\d))\d{3})*(?:[.,]\d+)?")


def stems(text: str) -> list[str]:
    """`Übersetzungen` and `Übersetzung` are one stem; a Korean word is its first two syllables, without particles."""
    found = []
    for word in _WORDS.findall(text.lower()):
        found.append(word[:2] if _HANGUL.match(word) else word[:STEM])
        if len(found) == LONGEST:
            break
    return found


def numbers(text: str) -> list[str]:
    """Numbers by their digits alone: languages disagree on points and commas."""
    return sorted(re.sub(r"\D", "", number) for number in _NUMBERS.findall(text))
