"""Detect the language of a text with py3langid, which is loaded on first use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from tongsa.text.languages import matches, plain_code

LETTERS = 4_000
"""Number of characters examined: more do not improve the result."""
SURE = 0.95
"""Probability from which a detected language is taken for granted."""
UNLIKE = 0.01
"""Probability below which a text is taken not to be in a language."""


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def detect(text: str) -> tuple[str, float]:
    """Return the most probable language of a text, and its probability."""
    language, probability = _identifier().classify(text)
    return str(language), float(probability)


def probabilities(text: str) -> dict[str, float]:
    """Return the probability of each language that the identifier knows, by its code of two letters."""
    return dict(_identifier().rank(text[:LETTERS]))


def is_foreign(text: str, language: str) -> bool:
    """Whether a text is surely in another language."""
    found, probability = detect(text)
    return probability > SURE and not matches(found, language)


def is_unlike(text: str, language: str) -> bool:
    """Whether a text is surely not in this language, whichever other one it is in; False for unknown languages."""
    return probabilities(text).get(plain_code(language).partition("-")[0], 1.0) < UNLIKE


def likeliest(text: str, languages: Sequence[str]) -> str:
    """Return which of several languages a text is in; the first if the identifier does not know that one."""
    known = probabilities(text)
    found = [known.get(plain_code(code).partition("-")[0], -1.0) for code in languages]
    return languages[found.index(max(found))] if found[0] >= 0 else languages[0]


def percentages(text: str, languages: Sequence[str]) -> list[tuple[str, int]]:
    """Return the codes of these languages with whole percentages, best first.

    Probabilities are among all languages that the identifier knows.
    """
    if not any(character.isalpha() for character in text[:LETTERS]):
        return [(code, 0) for code in languages[:1]]
    known = probabilities(text)
    found = {code: math.floor(100 * known.get(code.partition("-")[0], 0.0)) for code in languages}
    best, *others = sorted(found, key=lambda code: -found[code])
    return [(code, found[code]) for code in (best, *others) if code == best or found[code]]
