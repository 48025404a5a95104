"""Masking: replace what a translation must contain exactly once by one character each, and check it afterwards.

Masked text is a plain string in which each mark is one private-use character, so plain string functions can split
sentences, cut pieces and compare orders, and no mark can be cut in two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from tongsa.formats.segments import Content, Mark, Segment, plain
from tongsa.text.placeholders import Placeholder, find
from tongsa.translation.glossary import Glossary
from tongsa.translation.sentences import has_letters

FIRST = 0xF0000
"""The first character of the supplementary private plane."""
MOST_MARKS = 0xFFFFD - FIRST + 1
"""As many as the plane has characters; a text with more marks is masked in several parts."""

_MASKS = re.compile("[\U000f0000-\U000ffffd]")
_MASKS_APART = re.compile(f"({_MASKS.pattern})")
_TAG_NAME = re.compile(r"<(/?)([\w:.-]++)")
_VOID = {"br", "hr", "img", "input", "wbr", "area", "base", "col", "embed", "link", "meta", "source", "track"}
# `%s` takes the next argument, whatever it is; `%1$s` and `%(name)s` say which one they take
_NEXT_ARGUMENT = re.compile(r"%(?![%(]|\d++\$)[^a-zA-Z@<]*+[a-zA-Z@<].*+|\{(?:[:!].*)?\}")


@dataclass(frozen=True)
class MaskedText:
    """A text in which every mark is one private-use character."""

    text: str
    marks: dict[str, Mark]

    def content(self) -> Content:
        """Restore the marks of the text."""
        return tuple(self.marks.get(piece, piece) for piece in self.pieces() if piece)

    def pieces(self) -> list[str]:
        """Split the text at its masks: every second piece is a mask."""
        return _MASKS_APART.split(self.text)

    def masks(self) -> list[str]:
        """Return the characters that represent marks, in order."""
        return _MASKS.findall(self.text)

    def lines(self) -> list[str]:
        """Split the text at marks that end a line; each such mark is a part."""
        lines: list[list[str]] = [[]]
        for piece in self.pieces():
            if piece in self.marks and self.marks[piece].breaks:
                lines += [[piece], []]
            else:
                lines[-1].append(piece)
        return [line for line in map("".join, lines) if line] or [""]

    def part(self, text: str) -> MaskedText:
        """Return a part of this text, with the same marks."""
        return MaskedText(text, {mask: self.marks[mask] for mask in _MASKS.findall(text)})


def mask(content: Content, glossary: Glossary) -> list[MaskedText]:
    """Mask the format's marks, the placeholders in the text, and the terms to keep or enforce.

    The result is one masked text, or several if there are more marks than characters to represent them.
    """
    pieces: list[str | Mark] = []
    text: list[str] = []
    for part in content:
        if isinstance(part, Mark):
            pieces += [*_placeholders("".join(text)), part]
            text = []
        else:
            text.append(part)
    pieces += _placeholders("".join(text))
    pieces = [new for piece in pieces for new in (glossary.terms_in(piece) if isinstance(piece, str) else [piece])]
    pieces = _paired(pieces)
    places = [place for place, piece in enumerate(pieces) if isinstance(piece, Mark)]
    borders = [0, *places[MOST_MARKS::MOST_MARKS], len(pieces)]
    return [_masked(pieces[begin:end]) for begin, end in pairwise(borders)]


def _masked(pieces: Iterable[str | Mark]) -> MaskedText:
    text: list[str] = []
    marks: dict[str, Mark] = {}
    for piece in pieces:
        if isinstance(piece, Mark):
            character = chr(FIRST + len(marks))
            marks[character] = piece
            text.append(character)
        else:
            text.append(piece)
    return MaskedText("".join(text), marks)


def _placeholders(text: str) -> list[str | Mark]:
    pieces: list[str | Mark] = []
    end = 0
    private = [Placeholder(m.start(), m.end(), m.group(), "private") for m in _MASKS.finditer(text)]
    for each in sorted([*find(text), *private]):
        if each.start < end:  # a private character inside a placeholder: part of it
            continue
        pieces += [text[end : each.start], _mark(each)]
        end = each.end
    return [piece for piece in (*pieces, text[end:]) if piece]


def _mark(placeholder: Placeholder) -> Mark:
    return Mark(text=placeholder.text, ordered=bool(_NEXT_ARGUMENT.fullmatch(placeholder.text)))


def _paired(pieces: list[str | Mark]) -> list[str | Mark]:
    """Pair the opening and closing tags that were found in the text itself."""
    paired = list(pieces)
    waiting: list[tuple[str, int]] = []
    names: Counter[str] = Counter()
    for index, piece in enumerate(pieces):
        if not isinstance(piece, Mark) or piece.number >= 0 or not (tag := _TAG_NAME.match(piece.text)):
            continue
        closes, name, alone = tag[1], tag[2].lower(), piece.text.endswith("/>")
        if not closes and not alone and name not in _VOID:
            waiting.append((name, index))
            names[name] += 1
        elif closes and names[name]:
            open_name, opened = "", index
            while open_name != name:
                open_name, opened = waiting.pop()
                names[open_name] -= 1
            pair = -2 - index  # the format's own numbers are not negative
            paired[opened] = replace(_as_mark(pieces[opened]), role="open", pair=pair)
            paired[index] = replace(piece, role="close", pair=pair)
    return paired


def _as_mark(piece: str | Mark) -> Mark:
    assert isinstance(piece, Mark)
    return piece


def is_tag(mark: Mark) -> bool:
    """Return True for a mark around text rather than in it, which is better hidden from the model."""
    return not mark.text or mark.role != "alone"


def problem(source: MaskedText, text: str, fragile: str) -> str:
    """Describe what is broken in the masked translation of a masked text; empty if nothing is."""
    masks = _MASKS.findall(text)
    before = source.masks()
    if Counter(masks) != Counter(before):
        return "a placeholder was lost or doubled"
    if [m for m in masks if source.marks[m].ordered] != [m for m in before if source.marks[m].ordered]:
        return "placeholders changed their order"
    if _unclosed(source, masks) != _unclosed(source, before):
        return "tags were not nested"
    bare, bare_before = _MASKS.sub("", text), _MASKS.sub("", source.text)
    if any(bare.count(each) != bare_before.count(each) for each in fragile):
        return "a character with a meaning appeared or vanished"
    written = MaskedText(text, source.marks).content()
    if _found(written) != _found(source.content()):
        return "a placeholder was lost or doubled"
    return ""


def _found(content: Content) -> Counter[str]:
    return Counter(each.text for each in find(plain(content)))


def _unclosed(source: MaskedText, masks: list[str]) -> list[tuple[str, int]]:
    """Return the opening and closing tags that remain after removing properly nested pairs."""
    left: list[tuple[str, int]] = []
    for each in masks:
        mark = source.marks[each]
        if mark.role == "alone":
            continue
        if mark.role == "close" and left and left[-1] == ("open", mark.pair):
            left.pop()
        else:
            left.append((mark.role, mark.pair))
    return left


def acceptable(segment: Segment, source: MaskedText, text: str) -> bool:
    """Return True if the translation of a whole segment may be written."""
    if problem(source, text, segment.fragile):
        return False
    return segment.accepts is None or segment.accepts(plain(MaskedText(text, source.marks).content()))


FRAGILE: str = Segment(id="", content=()).fragile


def is_plain(text: str) -> bool:
    """Return True if a text has nothing that must be kept unchanged."""
    return not find(text) and not _MASKS.search(text)


def keeps_plain_text(source: str, translation: str) -> bool:
    """Return True if no placeholder or special character was added to or lost from a plain text."""
    return has_letters(translation) and not problem(MaskedText(source, {}), translation, FRAGILE)
