"""Projection of tags along an alignment: a tag encloses the translations of the words it enclosed.

The model sees the text without its tags. Afterwards a tag is put around the target words that attend to the words it
enclosed in the source, at word boundaries. If the tags are then not properly nested, the caller uses a safer strategy.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tongsa.documents.placeholders import MaskedText
from tongsa.translation.alignment import TokenAlignment, count_characters

_CLOSE, _ALONE, _OPEN = range(3)
_PUNCTUATION = tuple(".,;:!?…。、，！？")


def project_tags(
    source: MaskedText, tags: Sequence[str], shown: Collection[str], text: str, aligned: TokenAlignment
) -> str:
    """Insert the tags of the source into the translation `text`; marks that are not shown count as a character."""
    places = _places(source, tags, shown)
    closing = {source.marks[tag].pair: tag for tag in tags if source.marks[tag].role == "close"}
    inserts: dict[str, tuple[int, int]] = {}
    visible = "".join(text.split())
    spacings = {tag: _spacing(source, tag) for tag in tags}
    for tag in tags:
        if tag in inserts:
            continue
        close = closing.get(source.marks[tag].pair) if source.marks[tag].role == "open" else None
        span = aligned.span(places[tag], places[close]) if close and places[close] > places[tag] else None
        if close and span:
            end = _before_punctuation(visible, span) if _ends_at_word(source, tags, close) else span[1]
            inserts[tag], inserts[close] = (span[0], _OPEN), (end, _CLOSE)
        else:
            inserts[tag] = (aligned.place(places[tag]), _ALONE)
            if close:
                inserts[close], spacings[close] = inserts[tag], spacings[tag]
    return _inserted(text, inserts, spacings)


def _places(source: MaskedText, tags: Sequence[str], shown: Collection[str]) -> dict[str, int]:
    """Count the characters before each tag, without white space; the tags are given in order."""
    places: dict[str, int] = {}
    count = end = 0
    for tag in tags:
        at = source.text.index(tag, end)
        count += count_characters("".join(source.marks[c].text if c in shown else c for c in source.text[end:at]))
        places[tag] = count
        end = at + 1
    return places


def _ends_at_word(source: MaskedText, tags: Sequence[str], close: str) -> bool:
    """Return True if a word ends where the tag does, and the sentence goes on."""
    before, _, after = source.text.partition(close)
    return not before.rstrip().endswith(_PUNCTUATION) and any(c not in tags and not c.isspace() for c in after)


def _before_punctuation(visible: str, span: tuple[int, int]) -> int:
    """Return the end of a span without the punctuation that a model's token may hold."""
    inner = visible[span[0] : span[1]].rstrip("".join(_PUNCTUATION))
    return span[0] + len(inner) if inner else span[1]


def _spacing(source: MaskedText, tag: str) -> str:
    """Return how a tag whose pair is in another sentence is spaced: separate, or attached to a word."""
    at = source.text.index(tag)
    before, after = source.text[max(0, at - 1) : at], source.text[at + 1 : at + 2]
    if not before or before.isspace():
        return "apart" if not after or after.isspace() else "before"
    return "after"


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
        end = max(end, place)
    return "".join(pieces) + text[end:]
