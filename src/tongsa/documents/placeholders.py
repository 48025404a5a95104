"""Masking: replace what a translation must contain exactly once by one character each, and check it afterwards.

Masked text is a plain string in which each mark is one private-use character, so plain string functions can split
sentences, cut pieces and compare orders, and no mark can be cut in two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from tongsa.formats.html_escapes import decoded_reference
from tongsa.formats.segments import Content, Mark, Segment, plain
from tongsa.text.placeholders import LOOSE, Placeholder, find
from tongsa.translation.sentences import has_letters

FIRST = 0xF0000
"""The first character of the supplementary private plane."""
MOST_MARKS = 0xFFFFD - FIRST + 1
"""As many as the plane has characters; a text with more marks is masked in several parts."""

_MASKS = re.compile("[\U000f0000-\U000ffffd]")
_MASKS_APART = re.compile(f"({_MASKS.pattern})")
_TAG_NAME = re.compile(r"<(/?)([\w:.-]++)")
_WORDS = re.compile(r"(?![a-z]++[A-Z])[^\W\d_]++(?:[ .'’&+-]{1,2}[^\W_]++)*+\+{0,2}")
_AMOUNT = re.compile(r"[€$£¥₩]?\s?\d[\d.,'\s]*+[^\s\d{}<>_]{0,6}")
_SYMBOLS = re.compile(rf"(?:{LOOSE['symbol']})+")
_IN_BRACKETS = re.compile(rf"\({_MASKS.pattern}\)|\[{_MASKS.pattern}\]")
_BARE_AMPERSAND = re.compile(r"&(?!#?\w{1,32};)")
# `%s` takes the next argument, whatever it is; `%1$s` and `%(name)s` say which one they take
_NEXT_ARGUMENT = re.compile(r"%(?![%(]|\d++\$)[^a-zA-Z@<]*+[a-zA-Z@<].*+|\{(?:[:!].*)?\}")


@dataclass(frozen=True)
class MaskedText:
    """A text in which every mark is one private-use character."""

    text: str
    marks: dict[str, Mark]
    escapes: dict[str, str] = field(default_factory=dict)
    """How the source writes some characters of the text: `&#39;` for an apostrophe."""

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
        return MaskedText(text, {mask: self.marks[mask] for mask in _MASKS.findall(text)}, self.escapes)


def mask(content: Content) -> list[MaskedText]:
    """Mask the format's marks, and the placeholders in the text.

    The result is one masked text, or several if there are more marks than characters to represent them.
    """
    pieces: list[str | Mark] = []
    escapes = _escapes("".join(part for part in content if isinstance(part, str)))
    for are_text, parts in groupby(content, key=lambda part: isinstance(part, str)):
        here = list(parts)
        pieces += _placeholders("".join(map(str, here)), escapes) if are_text else here
    pieces = _paired(pieces)
    places = [place for place, piece in enumerate(pieces) if isinstance(piece, Mark)]
    borders = [0, *places[MOST_MARKS::MOST_MARKS], len(pieces)]
    forms = {character: reference for reference, character in reversed(escapes.items()) if reference != character}
    return [_masked(pieces[begin:end], forms) for begin, end in pairwise(borders)]


def _escapes(text: str) -> dict[str, str]:
    """Return the characters that the references of a text stand for, which the model is to see.

    `&lt;` and `&gt;` are marks, since they look like tags once they are decoded, and so is `&amp;` beside a plain `&`.
    """
    if "&" not in text:
        return {}
    references = dict.fromkeys(each.text for each in find(text) if each.kind == "entity")
    bare = text.replace("&amp;", "") if "&amp;" in references else ""
    found = {reference: decoded_reference(reference) for reference in references}
    return {
        reference: character
        for reference, character in found.items()
        if len(character) == 1 and character not in "<>" and not (character == "&" and _BARE_AMPERSAND.search(bare))
    }


def _masked(pieces: Iterable[str | Mark], escapes: dict[str, str]) -> MaskedText:
    text: list[str] = []
    marks: dict[str, Mark] = {}
    for piece in pieces:
        if isinstance(piece, Mark):
            character = chr(FIRST + len(marks))
            marks[character] = piece
            text.append(character)
        else:
            text.append(piece)
    return MaskedText("".join(text), marks, escapes)


def _placeholders(text: str, escapes: Mapping[str, str]) -> list[str | Mark]:
    pieces: list[str | Mark] = []
    end = 0
    private = [Placeholder(m.start(), m.end(), m.group(), "private") for m in _MASKS.finditer(text)]
    for each in sorted([*find(text, loose=True), *private]):
        if each.start < end:  # a private character inside a placeholder: part of it
            continue
        pieces += [text[end : each.start], escapes.get(each.text) or _mark(each)]
        end = each.end
    pieces.append(text[end:])
    return merged(piece for piece in pieces if piece)


def _mark(placeholder: Placeholder) -> Mark:
    if placeholder.kind == "code":
        return Mark(text=placeholder.text.strip("`"), written=placeholder.text)
    if placeholder.kind == "entity":
        return Mark(text=decoded_reference(placeholder.text), written=placeholder.text)
    return Mark(text=placeholder.text, ordered=bool(_NEXT_ARGUMENT.fullmatch(placeholder.text)))


def merged(parts: Iterable[str | Mark]) -> list[str | Mark]:
    """Join neighbouring texts."""
    joined: list[str | Mark] = []
    for are_text, group in groupby(parts, key=lambda part: isinstance(part, str)):
        here = list(group)
        joined += ["".join(map(str, here))] if are_text else here
    return joined


def _paired(pieces: list[str | Mark]) -> list[str | Mark]:
    """Pair the opening and closing tags that were found in the text itself."""
    paired = list(pieces)
    waiting: list[tuple[str, int]] = []
    names: Counter[str] = Counter()
    for index, piece in enumerate(pieces):
        if not isinstance(piece, Mark) or piece.number >= 0 or not (tag := _TAG_NAME.match(piece.text)):
            continue
        closes, name, alone = tag[1], tag[2].lower(), piece.text.endswith("/>")
        if not closes and not alone:  # one that never closes, as `<br>`, stays a single mark
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


def is_word(mark: Mark) -> bool:
    """Return True for a mark that reads as words of its sentence: `5 km`, `<code>beach</code>`, a product's name."""
    text = mark.text.strip("`")
    return mark.role == "alone" and bool(_WORDS.fullmatch(text) or _AMOUNT.fullmatch(text))


def is_placeholder(mark: Mark) -> bool:
    """Return True for a mark with a text that is no word: `%s`, `{name}`, a URL, an emoji."""
    return not is_tag(mark) and not is_word(mark)


def stand_apart(masked: MaskedText) -> bool:
    """Return True if the sentence is complete without its placeholders.

    These are emoji, arrows, what is in brackets, and what stands before the capital that the sentence begins with.
    """
    text = masked.text
    return all(
        _SYMBOLS.fullmatch(mark.text)
        or _IN_BRACKETS.match(text, max(0, place - 1))
        or (not text[:place].strip() and text[place + 1 :].lstrip()[:1].isupper())
        for place, character in enumerate(text)
        if (mark := masked.marks.get(character)) and is_placeholder(mark)
    )


def empty_pairs(masked: MaskedText, hidden: Collection[str]) -> set[str]:
    """Return the pairs of tags that enclose nothing but hidden marks."""
    found: set[str] = set()
    waiting: list[str] = []
    """Opening tags after which nothing was seen."""
    for character in masked.text:
        mark = masked.marks.get(character)
        if mark and mark.role == "open":
            waiting.append(character)
        elif mark and mark.role == "close" and waiting and masked.marks[waiting[-1]].pair == mark.pair:
            found |= {waiting.pop(), character}
        elif character not in hidden and not character.isspace():
            waiting = []
    return found


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
    if any(bare.count(each) != bare_before.count(each) for each in fragile if each not in source.escapes):
        return "a character with a meaning appeared or vanished"
    if _touching(source, text, fragile) > _touching(source, source.text, fragile):
        return "a character with a meaning was put beside a mark"
    written = MaskedText(text, source.marks).content()
    if _found(written) != _found(source.content()):
        return "a placeholder was lost or doubled"
    return ""


def _touching(source: MaskedText, text: str, fragile: str) -> int:
    """Count the characters with a meaning beside marks of the format: `*` beside `**` would be another mark."""
    if not any(mark.number >= 0 for mark in source.marks.values()):
        return 0
    beside = [pair for pair in pairwise(text) if (pair[0] in source.marks) != (pair[1] in source.marks)]
    return sum(
        source.marks[mask].number >= 0 and character in fragile
        for mask, character in (pair if pair[0] in source.marks else pair[::-1] for pair in beside)
    )


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
    return not find(text, loose=True) and not _MASKS.search(text)


def keeps_plain_text(source: str, translation: str) -> bool:
    """Return True if no placeholder or special character was added to or lost from a plain text."""
    return has_letters(translation) and not problem(MaskedText(source, {}), translation, FRAGILE)
