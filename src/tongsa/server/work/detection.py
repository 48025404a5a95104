"""Detects which of the served languages a text is in."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tongsa.text.detection import LETTERS, probabilities


def detect(text: str, languages: Sequence[str]) -> list[tuple[str, int]]:
    """Codes and whole percentages, best first. Probabilities are among all languages known, served or not."""
    if not any(character.isalpha() for character in text[:LETTERS]):
        return [(code, 0) for code in languages[:1]]
    known = probabilities(text)
    found = {code: math.floor(100 * known.get(code.partition("-")[0], 0.0)) for code in languages}
    best, *others = sorted(found, key=lambda code: -found[code])
    return [(code, found[code]) for code in (best, *others) if code == best or found[code]]
