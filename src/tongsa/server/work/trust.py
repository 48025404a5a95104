"""How far each word of a translation can be trusted."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

BLANK = "▁"
_WORDS = re.compile(r"\s+|\S+")


@dataclass(frozen=True)
class Word:
    text: str
    confidence: float | None
    """None for white space, and for what was not translated."""


@dataclass(frozen=True)
class Trust:
    """Of a whole text, and word by word: the texts of the words joined are the text."""

    score: float
    words: tuple[Word, ...]


def words_of(text: str, pieces: Sequence[str], logs: Sequence[float]) -> list[Word]:
    """Each word with the likelihood of its worst subword: that is where it would be wrong."""
    groups: list[float] = []
    for piece, log in zip(pieces, logs, strict=False):  # the last one is that of the end
        if piece.startswith(BLANK) or not groups:
            groups.append(log)
        else:
            groups[-1] = min(groups[-1], log)
    if len(groups) != len(text.split()):  # a text that is not cut at its blanks
        groups = [sum(logs) / max(1, len(logs))] * len(text.split())
    likelihoods = iter(groups)
    return [
        Word(word, None if word.isspace() else round(math.exp(min(0.0, next(likelihoods))), 3))
        for word in _WORDS.findall(text)
    ]


def evenly(text: str, confidence: float | None) -> list[Word]:
    """Where nothing is known but of the whole."""
    return [Word(word, None if word.isspace() else confidence) for word in _WORDS.findall(text)]
