"""Masking for training: placeholders become `{1}`, `{2}`, ... on both sides, so that a model learns to carry them.

Documents are translated with the same stand-ins, so a model trained so keeps its sentences whole where others must be
cut into pieces around each placeholder.
"""

from __future__ import annotations

from collections import Counter

from tongsa.formats.pairs import Pair
from tongsa.text.placeholders import Placeholder, find

STAND_IN = "{{{}}}"


def mask(pair: Pair) -> Pair:
    """The pair with stand-ins, numbered in the order of the source; as it is where the two sides disagree."""
    source, target = find(pair.source), find(pair.target)
    texts = Counter(placeholder.text for placeholder in source)
    if not source or texts != Counter(placeholder.text for placeholder in target) or max(texts.values()) > 1:
        return pair
    numbers = {placeholder.text: number for number, placeholder in enumerate(source, 1)}
    return Pair(_written(pair.source, source, numbers), _written(pair.target, target, numbers), pair.where)


def _written(text: str, placeholders: list[Placeholder], numbers: dict[str, int]) -> str:
    parts, end = [], 0
    for placeholder in placeholders:
        parts += [text[end : placeholder.start], STAND_IN.format(numbers[placeholder.text])]
        end = placeholder.end
    return "".join([*parts, text[end:]])
