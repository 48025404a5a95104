"""Detects which of the served languages a text is in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

LETTERS = 4_000
"""Number of characters examined: more do not improve the result."""


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def detect(text: str, languages: Sequence[str]) -> list[tuple[str, int]]:
    """Codes and whole percentages, best first. Probabilities are among all languages known, served or not."""
    if not any(character.isalpha() for character in text[:LETTERS]):
        return [(code, 0) for code in languages[:1]]
    probabilities = dict(_identifier().rank(text[:LETTERS]))
    found = {code: math.floor(100 * probabilities.get(code.partition("-")[0], 0.0)) for code in languages}
    best, *others = sorted(found, key=lambda code: -found[code])
    return [(code, found[code]) for code in (best, *others) if code == best or found[code]]
