"""Put units back into a translation: at the beginning or end of the sentence, or where their neighbours went.

    source       Open now.         the unit `"{file}"` stood after `Open`
    translation  Jetzt öffnen.     `öffnen` is the translation of `Open`
    result       Jetzt öffnen "{file}".

A unit is put between words, with blanks and punctuation as in the source. A word that must stay untranslated takes the
place of its translation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tongsa.documents.placeholders import MaskedText
from tongsa.documents.units import Unit, View
from tongsa.translation.alignment import Span, TokenAlignment, count_characters

FEW_WORDS, MOST_WORDS = 3, 6
"""Words of a translation that a word that stays untranslated may replace without a note, and with one."""
_CLOSING = tuple(".,;:!?…)]}»”。、，！？")
_OPENING = tuple("([{«“„¿¡")
_NO_BLANKS = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
"""Scripts that are written without blanks."""
_WORD = re.compile(r"[^\W_\u3000-\u30ff\u3400-\u9fff]++(?:['’-][^\W_\u3000-\u30ff\u3400-\u9fff]++)*+")
_FINAL = re.compile(r"(?<![.!?…。！？])[.!?…。！？]++[\"'»”)\]]{0,2}$")


@dataclass(frozen=True)
class Edit:
    """A change of a translation: text[start:end] becomes `new`."""

    start: int
    end: int
    new: str
    unit: Unit | None = None


class Translated:
    """A translation that units and words are put back into, and its alignment."""

    def __init__(self, view: View, text: str, aligned: TokenAlignment) -> None:
        self.view, self.text, self.aligned = view, text, aligned
        self._characters = [i for i, c in enumerate(text) if not c.isspace()]
        self._words = [match.span() for match in _WORD.finditer(text)]
        self.edits: list[Edit] = []
        self.replaced_many = False
        """True if a word took the place of more words than it is likely to stand for."""

    def index(self, count: int, *, to_the_right: bool = False) -> int:
        """Return the place after this many visible characters, before or after white space, but not in a word."""
        if to_the_right:
            place = self._characters[count] if count < len(self._characters) else len(self.text)
        else:
            place = self._characters[count - 1] + 1 if count else 0
        word = next(((start, end) for start, end in self._words if start < place < end), (place, place))
        return word[0 if to_the_right else 1]

    def replace_word(self, mask: str) -> None:
        """Put a mark in place of the words that translate its text, or between words if there are none."""
        begin, end = self.view.shown[mask]
        span = self.aligned.span(begin, end)
        start = self.index(span[0], to_the_right=True) if span else 0
        stop = max(start, self.index(span[1])) if span else 0
        overlaps = any(edit.start < stop and edit.end > start for edit in self.edits)
        if span and not overlaps and self.text[start:stop].strip() and len(self.text[start:stop].split()) <= MOST_WORDS:
            self.replaced_many |= len(self.text[start:stop].split()) > FEW_WORDS
            inner = self.text[start:stop].rstrip("".join(_CLOSING))
            self.edits.append(Edit(start, start + len(inner) if inner.strip() else stop, mask))
        else:
            place = self.index(self.aligned.place(begin))
            self.edits.append(Edit(place, place, mask, Unit(text=mask, at=begin, width=0, edge="inner")))

    def put_units(self, ordered: Sequence[bool]) -> None:
        """Find a place for each unit; those that are ordered keep their order."""
        places = [self._place(unit) for unit in self.view.units]
        fixed = [number for number, is_ordered in enumerate(ordered) if is_ordered]
        for number, place in zip(fixed, sorted(places[number] for number in fixed), strict=True):
            places[number] = place
        for unit, place in zip(self.view.units, places, strict=True):
            inside = [edit.end for edit in self.edits if edit.start < place < edit.end]
            self.edits.append(Edit(inside[0] if inside else place, inside[0] if inside else place, unit.text, unit))

    def _place(self, unit: Unit) -> int:
        if unit.edge == "first":
            return 0
        if unit.edge in ("last", "after all"):
            ends = not _FINAL.search(self.view.text) if unit.edge == "after all" else True
            final = _FINAL.search(self.text) if ends else None
            return final.start() if final else len(self.text)
        if unit.touches == "after":
            return self.index(self.aligned.place_before(unit.at), to_the_right=True)
        return self._between(unit.at)

    def _between(self, at: int) -> int:
        """Return the place after the word before, or before the word after: the one that is nearer in proportion."""
        before, after = self._after_word(at), self.aligned.place_before(at)
        visible = "".join(self.view.text.split())
        expected = at * len(self._characters) / max(1, len(visible))
        if visible.startswith(_CLOSING, at) or abs(before - expected) <= abs(after - expected):
            return self.index(before)
        return self.index(after, to_the_right=True)

    def _after_word(self, at: int) -> int:
        """Return the place after the translation of a word, without punctuation that the word did not have."""
        place = self.aligned.place(at)
        visible = "".join(self.view.text.split())
        while at and place > 1 and not visible.startswith(_CLOSING, at - 1) and self._closes(place - 1):
            place -= 1
        return place

    def _closes(self, character: int) -> bool:
        return self.text[self._characters[character]] in _CLOSING

    def written(self) -> str:
        """Apply all changes."""
        pieces: list[str] = []
        at = 0
        last = ""
        for edit in self._sorted():
            kept = self.text[at : edit.start]
            pieces.append(kept)
            last = (kept or last)[-1:] if kept else last
            before, after = _blanks(last, edit, self.text[edit.end : edit.end + 1])
            pieces += [before, edit.new, after]
            last = (edit.new + after)[-1:]
            at = edit.end
            if edit.unit and edit.unit.touches == "both" and self.text[at : at + 1].isspace():
                at += 1
        return "".join([*pieces, self.text[at:]])

    def _sorted(self) -> list[Edit]:
        ranked = sorted(enumerate(self.edits), key=lambda each: (each[1].start, each[1].end, _at(each[1]), each[0]))
        return [edit for _, edit in ranked]

    def realigned(self) -> TokenAlignment:
        """Return the alignment of the source with its units and the translation with its changes."""
        target, new = self._target_spans()
        source, taken = self._source_spans()
        pairs = [(taken[edit.unit], span) for edit, span in zip(self._sorted(), new, strict=True) if edit.unit in taken]
        return self.aligned.moved(source, target, pairs)

    def _target_spans(self) -> tuple[list[Span], list[Span]]:
        """Return where each character of the translation went, and the span of each change."""
        characters: list[Span] = []
        new: list[Span] = []
        here = at = 0
        for edit in [*self._sorted(), Edit(len(self.text), len(self.text), "")]:
            kept = count_characters(self.text[at : edit.start])
            characters += [(here + i, here + i + 1) for i in range(kept)]
            new.append((here + kept, here + kept + count_characters(edit.new)))
            characters += new[-1:] * count_characters(self.text[edit.start : edit.end])
            here, at = new[-1][1], edit.end
        return characters, new[:-1]

    def _source_spans(self) -> tuple[list[Span], dict[Unit | None, Span]]:
        """Return where each character that the model saw stood in the sentence, and where the units did."""
        characters: list[Span] = []
        taken: dict[Unit | None, Span] = {}
        here = 0
        for unit in self.view.units:
            before = unit.at - len(characters)
            characters += [(i, i + 1) for i in range(here, here + before)]
            here += before
            taken[unit] = (here, here + unit.width)
            here += unit.width
        rest = count_characters(self.view.text) - len(characters)
        return characters + [(i, i + 1) for i in range(here, here + rest)], taken


def _at(edit: Edit) -> int:
    return edit.unit.at if edit.unit else -1


def _blanks(last: str, edit: Edit, following: str) -> tuple[str, str]:
    """Return the blanks to write before and after new text."""
    if edit.unit is None:
        return "", ""
    touches = edit.unit.touches
    before = after = " "
    if not last or last.isspace() or last in _OPENING or touches in ("before", "both"):
        before = ""
    if edit.new.startswith(_CLOSING) or _NO_BLANKS.match(last):
        before = ""
    if not following or following.isspace() or following in _CLOSING or touches in ("after", "both"):
        after = ""
    if _NO_BLANKS.match(following):
        after = ""
    return before, after


def ordered_units(source: MaskedText, units: Sequence[Unit]) -> list[bool]:
    """Tell which units have marks whose order matters."""
    return [any(source.marks[c].ordered for c in unit.text if c in source.marks) for unit in units]
