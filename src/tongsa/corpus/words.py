"""Stems, numbers and the script of a text: enough for a cheap comparison of two languages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

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


SCRIPTS = {
    "Latin": "A-Za-zÀ-ɏ",
    "Hangul": "\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f",
    "Han": "\u3400-\u9fff",
    "Kana": "\u3040-\u30ff",
    "Cyrillic": "\u0400-\u052f",
    "Greek": "\u0370-\u03ff",
    "Arabic": "\u0600-\u06ff",
    "Hebrew": "\u0590-\u05ff",
    "Devanagari": "\u0900-\u097f",
    "Thai": "\u0e00-\u0e7f",
}
_ONLY_LATIN = re.compile(r"[\x00-\u024f\u2000-\u20cf]*")
_COUNTERS = {name: re.compile(f"[{ranges}]") for name, ranges in SCRIPTS.items()}


def script(text: str) -> str:
    """The script of most letters: Kana if the text has any kana, `none` if it has no letters."""
    if _ONLY_LATIN.fullmatch(text):
        return "Latin" if _COUNTERS["Latin"].search(text) else "none"
    counts = {name: len(pattern.findall(text)) for name, pattern in _COUNTERS.items()}
    if counts["Kana"] and counts["Han"]:
        counts["Kana"] += counts.pop("Han")
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else "none" if not any(map(str.isalpha, text)) else "other"


def usual_script(texts: Sequence[str]) -> str:
    """The script of most texts, if nine texts in ten have letters of it; empty if not."""
    written = [text for text in texts if any(map(str.isalpha, text))]
    name, _ = Counter(map(script, written)).most_common(1)[0] if written else ("", 0)
    missing = sum(lacks_script(text, name) for text in written)
    return name if name in SCRIPTS and missing <= 0.1 * len(written) else ""


def lacks_script(text: str, name: str) -> bool:
    """Whether a text has letters, but none of this script (one of SCRIPTS); Japanese is also written in Han alone."""
    if name not in _COUNTERS or _COUNTERS[name].search(text) or (name == "Kana" and _COUNTERS["Han"].search(text)):
        return False
    return any(map(str.isalpha, text))
