"""Translations that are broken, whatever the reference says: found from source and translation alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from tongsa.text.detection import is_unlike
from tongsa.text.languages import matches
from tongsa.text.scripts import lacks_script, script_of

BREAKAGES = {
    "empty": "there is no translation",
    "loop": "a phrase is repeated over and over",
    "copy": "the source is copied, untranslated",
    "script": "it has no letter of the target's script",
    "language": "it is in another language",
    "long": "it is far too long",
}

TIMES = 4
"""Repetitions of a phrase in a row that are a loop."""
LONGEST_PHRASE = 12
CHARACTERS = 8
"""Repetitions of a few characters in a row that are a loop."""
FEW_WORDS = 4
"""Texts of so many words or fewer may be names, which stay as they are in every language."""
SHARED = 0.8
"""Share of its words that a copy has in common with the source."""
STRETCH, ROOM = 5, 40
"""A translation is far too long with more than STRETCH times the characters of the source, and ROOM."""

_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_]+")


def breakage(source: str, translation: str, source_language: str, target_language: str) -> str | None:
    """Return the first of BREAKAGES that a translation has, or None.

    The language is detected only in texts that are long enough for it. Text without letters is never broken.
    """
    if not any(map(str.isalpha, source)):
        return None
    if not translation.strip():
        return "empty"
    if is_loop(source, translation):
        return "loop"
    foreign = foreign_text(source, translation, source_language, target_language)
    if foreign:
        return foreign
    words = _WORDS.findall(translation)
    if len(words) > FEW_WORDS and is_unlike(translation, target_language):
        return "language"
    return "long" if len(translation) > STRETCH * len(source) + ROOM else None


def foreign_text(source: str, translation: str, source_language: str, target_language: str) -> str | None:
    """Return `copy` or `script` if the translation is surely not in its language: cheap enough for every sentence."""
    if matches(source_language, target_language) or (source.isascii() and not any(map(str.isalpha, source))):
        return None
    words = _WORDS.findall(translation.casefold())
    shared = Counter(words) & Counter(_WORDS.findall(source.casefold()))
    if len(words) > FEW_WORDS and shared.total() >= SHARED * len(words):
        return "copy"
    names = shared.total() == len(words)  # they stay as they are
    return "script" if not names and lacks_script(translation, script_of(target_language)) else None


def is_loop(source: str, translation: str) -> bool:
    """Whether a translation repeats a phrase, or a few characters, that the source does not repeat."""
    words = translation.casefold().split()
    if repeats(words, TIMES, LONGEST_PHRASE):
        return not repeats(source.split(), TIMES, LONGEST_PHRASE)
    return repeats(translation, CHARACTERS, 4) and not repeats(source, CHARACTERS, 4)


def repeats(items: Sequence[object], times: int, longest: int) -> bool:
    """Return True if a phrase of at most `longest` items occurs `times` times in a row anywhere."""
    for period in range(1, min(longest, len(items) // times) + 1):
        run = 0
        for before, after in zip(items, items[period:], strict=False):
            run = run + 1 if before == after else 0
            if run >= (times - 1) * period:
                return True
    return False
