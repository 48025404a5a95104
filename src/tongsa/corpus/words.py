"""Stems and numbers of a text: enough for a cheap comparison of two languages."""

from __future__ import annotations

import re

LONGEST = 60
"""Maximum number of words of a text that are examined."""
STEM = 6

_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_NUMBERS = re.compile(r"\d+(?:[.,'\u00a0\u202f ](?=\d{3}(?!\d))\d{3})*(?:[.,]\d+)?")


def stems(text: str) -> list[str]:
    """The stems of a text: `Übersetzungen` and `Übersetzung` share one; a Korean word is cut to two syllables."""
    found = []
    for word in _WORDS.findall(text.lower()):
        found.append(word[:2] if _HANGUL.match(word) else word[:STEM])
        if len(found) == LONGEST:
            break
    return found


def numbers(text: str) -> list[str]:
    """The digits of each number, without points and commas, which differ between languages."""
    return sorted(re.sub(r"\D", "", number) for number in _NUMBERS.findall(text))
