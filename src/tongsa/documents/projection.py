"""Projection of tags along an alignment: a tag encloses the translations of the words it enclosed.

The model sees the text without its tags. Afterwards a tag is put around the target words that attend to the words it
enclosed in the source, at word boundaries. If the tags are then not properly nested, the caller uses a safer strategy.
"""

from __future__ import annotations

from collections.abc import Sequence

from tongsa.documents.placeholders import MaskedText
from tongsa.translation.alignment import TokenAlignment, count_characters

_CLOSE, _ALONE, _OPEN = range(3)


def project_tags(source: MaskedText, tags: Sequence[str], text: str, aligned: TokenAlignment) -> str:
    """Insert the tags of the source into the translation `text`."""
    places = _places(source, tags)
    closing = {source.marks[tag].pair: tag for tag in tags if source.marks[tag].role == "close"}
    inserts: dict[str, tuple[int, int]] = {}
    for tag in tags:
        if tag in inserts:
            continue
        close = closing.get(source.marks[tag].pair) if source.marks[tag].role == "open" else None
        span = aligned.span(places[tag], places[close]) if close and places[close] > places[tag] else None
        if close and span:
            inserts[tag], inserts[close] = (span[0], _OPEN), (span[1], _CLOSE)
        else:
            inserts[tag] = (aligned.place(places[tag]), _ALONE)
            if close:
                inserts[close] = inserts[tag]
    return _inserted(text, inserts, {tag: _spacing(source, tag) for tag in tags})


def _places(source: MaskedText, tags: Sequence[str]) -> dict[str, int]:
    """Count the visible characters before each tag, without white space; the tags are given in order."""
    places: dict[str, int] = {}
    count = end = 0
    for tag in tags:
        at = source.text.index(tag, end)
        count += count_characters(visible_text(source, (), source.text[end:at]))
        places[tag] = count
        end = at + 1
    return places


def _spacing(source: MaskedText, tag: str) -> str:
    """Return how a single mark is spaced: separate, attached to the next word, to the previous one, or to both."""
    at = source.text.index(tag)
    before, after = source.text[max(0, at - 1) : at], source.text[at + 1 : at + 2]
    if not before or before.isspace():
        return "apart" if not after or after.isspace() else "before"
    return "joined" if _joins_words(source, source.text, at) else "after"


def visible_text(source: MaskedText, tags: Sequence[str], text: str) -> str:
    """Return the text that the model sees: marks that are words are kept, tags are removed."""
    seen = []
    hidden = set(tags)
    for at, c in enumerate(text):
        if c not in hidden:
            seen.append(source.marks[c].text if c in source.marks else c)
        elif _joins_words(source, text, at):
            seen.append(" ")  # a picture between two words must not join them
    return "".join(seen)


def _joins_words(source: MaskedText, text: str, at: int) -> bool:
    alone = source.marks[text[at]].role == "alone"
    return alone and text[max(0, at - 1) : at].isalnum() and text[at + 1 : at + 2].isalnum()


def _inserted(text: str, inserts: dict[str, tuple[int, int]], spacings: dict[str, str]) -> str:
    """Insert tags at their places with their original spacing; no tag is put inside a word."""
    characters = [i for i, c in enumerate(text) if not c.isspace()]
    ranks = {tag: rank for rank, tag in enumerate(spacings)}
    placed = []
    for tag, (count, side) in inserts.items():
        to_the_left = side == _OPEN or (side == _ALONE and spacings[tag] == "before")
        if to_the_left:
            place = characters[count] if count < len(characters) else len(text)
        else:
            place = characters[count - 1] + 1 if count else 0
        while 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum():
            place += -1 if to_the_left else 1
        placed.append((place, side, ranks[tag], tag))
    pieces = []
    end = 0
    for place, side, _, tag in sorted(placed):
        spacing = spacings[tag] if side == _ALONE else ""
        blank = " " if spacing == "apart" and place and not text[place - 1].isspace() else ""
        pieces += [text[end:place], blank, tag]
        end = place + 1 if spacing == "joined" and text[place : place + 1].isspace() else max(end, place)
    return "".join(pieces) + text[end:]
