"""Sentences in capitals: translated in lower case, and the translation written in capitals.

A model has seen few words in capitals, so that they fall apart into letters, and what it makes of those is nonsense.
Capitals that it knows well (a name, a heading of its training text) are few pieces, and stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tongsa.translation.sentences import Sentence, Translation

NOTE = "translated in lower case"

FALLEN_APART = 1.5
"""Pieces of a sentence in capitals, in pieces of the same in lower case, from which on it is translated as that."""


def in_capitals(text: str) -> bool:
    """Whether all letters that have a case are capitals, in several words, and most letters have a case."""
    if not text.isupper() or len(text.split()) < 2:
        return False
    letters = [c for c in text if c.isalpha()]
    return 2 * sum(c.isupper() for c in letters) > len(letters)


def lowered(sentences: Sequence[Sentence], encode: Callable[[list[str]], list[Sentence]]) -> dict[int, Sentence]:
    """The sentences that should be translated in lower case, by their index."""
    found = [place for place, sentence in enumerate(sentences) if in_capitals(sentence.text)]
    calm = encode([_lower(sentences[place].text) for place in found]) if found else []
    return {
        place: sentence
        for place, sentence in zip(found, calm, strict=True)
        if len(sentences[place].ids) >= FALLEN_APART * len(sentence.ids)
    }


def _lower(text: str) -> str:
    """A sentence begins with a capital."""
    first = next(place for place, c in enumerate(text) if c.isalpha())
    return text[: first + 1] + text[first + 1 :].lower()


def raised(translation: Translation) -> Translation:
    """The translation in capitals; its tokens are those that the model wrote."""
    return replace(
        translation,
        text=translation.text.upper(),
        notes=(*translation.notes, NOTE),
        alternatives=tuple(map(raised, translation.alternatives)),
    )
