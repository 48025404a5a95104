"""Strategies for translating a sentence with marks (placeholders, tags), from the best to the safest.

    shown          placeholders stay in the text
    numbered       placeholders are written `{1}`, `{2}`, ...: short, and all alike
    hidden         placeholders are taken out, and put back along the alignment
    piece by piece the text between the marks is translated in pieces; the marks stay where they are

Tags are always taken out, and put around the translations of the words that they enclosed. A strategy names the texts
to translate and builds a candidate from their translations, or none if a mark was lost. A sentence that no strategy
can translate stays in the source language.

A model that has not learnt to carry placeholders translates the words around them differently, or invents others.
Therefore a sentence with placeholders is translated with and without them: `best` chooses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal, Protocol

from tongsa.documents.placeholders import MaskedText, empty_pairs, is_placeholder, is_tag, is_word, problem
from tongsa.documents.placing import Translated, ordered_units
from tongsa.documents.projection import project_tags
from tongsa.documents.units import View, view
from tongsa.translation.alignment import TokenAlignment
from tongsa.translation.confidence import CUT, weighted_mean
from tongsa.translation.sentences import has_letters

_BEFORE = re.compile(r"[\W_]++")
_AFTER = re.compile(r"(?<![^\w.!?…。！？])[^\w.!?…。！？]++$")


class SentenceTranslation(Protocol):
    """The part of `tongsa.Translation` that strategies use."""

    @property
    def text(self) -> str: ...
    @property
    def log_probability(self) -> float: ...
    @property
    def confidence(self) -> float | None: ...
    @property
    def source_tokens(self) -> tuple[str, ...]: ...
    @property
    def tokens(self) -> tuple[str, ...]: ...
    @property
    def alignment(self) -> tuple[tuple[int, int], ...]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def alternatives(self) -> Sequence[SentenceTranslation]: ...


@dataclass(frozen=True, kw_only=True)
class MaskedSentence:
    """A sentence of a segment, without the white space around it."""

    masked: MaskedText
    fragile: str


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A translation with every mark in it, as masked text."""

    masked: MaskedText
    average: float
    """The average log-probability of its tokens."""
    confidence: float
    notes: tuple[str, ...] = ()


class Strategy(Protocol):
    def texts(self, sentence: MaskedSentence) -> list[str]:
        """Return the texts to translate; none if this strategy does not apply."""
        ...

    def candidate(self, sentence: MaskedSentence, translations: Sequence[SentenceTranslation]) -> Candidate | None: ...


@dataclass(frozen=True)
class Seen:
    """A sentence as a strategy shows it to the model."""

    source: MaskedText
    """The sentence; the text of each mark is what the model sees for it."""
    tags: list[str]
    """Pairs of tags around words, which are projected along the alignment."""
    view: View


class Whole:
    """The sentence is translated whole; marks that the model does not see or write are put back by the alignment."""

    NOTE = "marks placed without an alignment"

    def __init__(self, placeholders: Literal["shown", "numbered", "hidden"]) -> None:
        self.placeholders = placeholders

    def texts(self, sentence: MaskedSentence) -> list[str]:
        marks = sentence.masked.marks.values()
        if self.placeholders != "shown" and not any(map(is_placeholder, marks)):
            return []
        if self.placeholders == "numbered" and re.search(r"\{\d", sentence.masked.text):
            return []
        text = self._seen(sentence.masked).view.text
        return [text] if has_letters(text) else []

    def candidate(self, sentence: MaskedSentence, translations: Sequence[SentenceTranslation]) -> Candidate | None:
        (translation,) = translations
        seen = self._seen(sentence.masked)
        if translation.text == seen.view.text:  # the same in both languages
            return _checked(sentence, sentence.masked, translations)
        text = translation.text.strip()
        lost = [mask for mask in seen.view.shown if is_word(seen.source.marks[mask]) and _is_lost(mask, seen, text)]
        notes: tuple[str, ...] = ()
        if seen.view.units or seen.tags or lost:
            tokens = (translation.source_tokens, translation.tokens)
            aligned = TokenAlignment.of((seen.view.text, text), tokens, translation.alignment)
            if not aligned:
                aligned, notes = TokenAlignment.proportional(seen.view.text, text), (self.NOTE,)
            written = Translated(seen.view, text, aligned)
            text = _put_back(seen, lost, written)
            notes = (*notes, *((MANY,) if written.replaced_many else ()))
        found = locate(seen.source, [mask for mask in seen.view.shown if mask not in lost], text)
        if not found:
            return None
        candidate = _checked(sentence, MaskedText(found.text, sentence.masked.marks), translations)
        return replace(candidate, notes=(*notes, *candidate.notes)) if candidate else None

    def _seen(self, masked: MaskedText) -> Seen:
        marks = dict(masked.marks)
        numbers = count(1)
        hidden: set[str] = set()
        for mask in masked.masks():
            mark = marks[mask]
            if is_placeholder(mark) and self.placeholders == "numbered":
                marks[mask] = replace(mark, text=f"{{{next(numbers)}}}")
            elif is_placeholder(mark) and self.placeholders == "hidden":
                hidden.add(mask)
            elif is_word(mark):
                marks[mask] = replace(mark, text=mark.text.strip("`"))
            if mark.role == "alone" and not mark.text:
                hidden.add(mask)
        hidden |= empty_pairs(masked, hidden)
        source = MaskedText(masked.text, marks)
        tags = [mask for mask in masked.masks() if is_tag(marks[mask]) and mask not in hidden]
        return Seen(source, tags, view(source, hidden, tags))


def _put_back(seen: Seen, lost: Sequence[str], written: Translated) -> str:
    """Put words, units and tags into a translation."""
    for mask in lost:
        written.replace_word(mask)
    written.put_units(ordered_units(seen.source, seen.view.units))
    text = written.written()
    return project_tags(seen.source, seen.tags, seen.view.shown, text, written.realigned()) if seen.tags else text


def _is_lost(mask: str, seen: Seen, text: str) -> bool:
    word = seen.source.marks[mask].text
    alike = sum(seen.source.marks[other].text == word for other in seen.view.shown)
    return len(occurrences(word, text)) != alike


class PieceByPiece:
    """Marks keep their order; the text between them is translated piece by piece."""

    NOTE = "translated in pieces"

    def texts(self, sentence: MaskedSentence) -> list[str]:
        return [_core(piece) for piece in sentence.masked.pieces() if has_letters(piece)]

    def candidate(self, sentence: MaskedSentence, translations: Sequence[SentenceTranslation]) -> Candidate | None:
        rest = iter(translations)
        written: list[str] = []
        used: list[SentenceTranslation] = []
        confidences: list[tuple[float, int]] = []
        left = 0
        for piece in sentence.masked.pieces():
            if not has_letters(piece):
                written.append(piece)
                continue
            translation = next(rest)
            text = translation.text.strip()
            if not has_letters(text) or problem(MaskedText(_core(piece), {}), text, sentence.fragile):
                written.append(piece)
                confidences.append((0.0, len(piece)))
                left += 1
                continue
            used.append(translation)
            confidences.append((translation.confidence or 0.0, len(piece)))
            written.append(text.join(_edges(piece)))
        if not used:
            return None
        candidate = _checked(sentence, MaskedText("".join(written), sentence.masked.marks), used)
        notes = (self.NOTE, *((f"{left} of its pieces left in the source language",) if left else ()))
        if not candidate:
            return None
        return replace(candidate, confidence=CUT * weighted_mean(confidences), notes=(*notes, *candidate.notes))


def _edges(piece: str) -> tuple[str, str]:
    """Split off spaces, commas and brackets around a piece, which stay with the marks; a full stop is translated."""
    before = _BEFORE.match(piece)
    after = _AFTER.search(piece)
    return before.group() if before else "", after.group() if after else ""


def _core(piece: str) -> str:
    before, after = _edges(piece)
    return piece[len(before) : len(piece) - len(after)]


SHOWN, NUMBERED, HIDDEN = Whole("shown"), Whole("numbered"), Whole("hidden")
LAST_RESORT = PieceByPiece()


def _checked(
    sentence: MaskedSentence, masked: MaskedText, translations: Sequence[SentenceTranslation]
) -> Candidate | None:
    """Return a candidate, or None if something is missing or was added."""
    if has_letters(sentence.masked.text) and not has_letters(masked.text):
        return None
    if not masked.text.strip() or problem(sentence.masked, masked.text, sentence.fragile):
        return None
    notes = dict.fromkeys(note for translation in translations for note in translation.notes)
    confidence = weighted_mean([(each.confidence or 0.0, len(each.text)) for each in translations])
    tokens = sum(len(each.tokens) + 1 for each in translations)  # each has an end, too
    average = sum(each.log_probability for each in translations) / max(1, tokens)
    return Candidate(masked=masked, average=average, confidence=confidence, notes=tuple(notes))


def locate(source: MaskedText, masks: Sequence[str], text: str) -> MaskedText | None:
    """Replace words by the masks they represent; None if a word is not found, or found too often."""
    literal: dict[str, list[str]] = {}
    for mask in masks:
        literal.setdefault(source.marks[mask].text, []).append(mask)
    for word in sorted(literal, key=len, reverse=True):  # the longest first: `%s` may be part of `%(name)s`
        places = occurrences(word, text)
        if len(places) != len(literal[word]):
            return None
        for place, mask in reversed([*zip(places, literal[word], strict=True)]):
            text = text[:place] + mask + text[place + len(word) :]
    return MaskedText(text, source.marks)


def occurrences(word: str, text: str) -> list[int]:
    """Return the places of a word in a text; `a` is not in `man`, but `file` is in `file을`."""
    found = []
    place = text.find(word)
    while place >= 0:
        end = place + len(word)
        before, after = text[max(0, place - 1) : place], text[end : end + 1]
        if not (_are_one_word(before, word[:1]) or _are_one_word(word[-1:], after)):
            found.append(place)
        place = text.find(word, end)
    return found


def _are_one_word(left: str, right: str) -> bool:
    return all(c.isascii() and c.isalnum() for c in (left, right))


def agree(one: Candidate, other: Candidate) -> bool:
    """Return True if two translations are the same but for their marks and blanks."""
    return _without_marks(one.masked) == _without_marks(other.masked)


MANY = "a word that stays untranslated took the place of several"
ALLOWANCE = 0.1
"""How much lower the average log-probability may be of a translation with its placeholders than of one without."""
DIFFERENT = "translated differently without its placeholders"


def best(
    shown: Candidate | None, numbered: Candidate | None, hidden: Candidate | None, *, apart: bool = False
) -> Candidate | None:
    """Choose a candidate: one that the model wrote with the placeholders in it, if the words around them stay the same.

    Otherwise the likelier one: a model that has learnt to carry placeholders is about as sure with them as without, and
    right more often; others are much less sure. But if all placeholders stand apart, the one without them is taken: it
    lacks no word.
    """
    if hidden is None:
        return shown or numbered
    for candidate in (shown, numbered):
        if candidate and agree(candidate, hidden):
            return candidate
    if apart:
        return hidden
    others = [
        candidate
        for candidate in (shown, numbered)
        # one with a note was not simply translated: text that the model cannot read is copied, and that is certain
        if candidate and not candidate.notes and candidate.average >= hidden.average - ALLOWANCE
    ]
    if not others:
        return hidden
    chosen = max(others, key=lambda candidate: candidate.average)
    return replace(chosen, notes=(DIFFERENT, *chosen.notes))


def _without_marks(masked: MaskedText) -> str:
    return "".join("".join(masked.pieces()[::2]).split())


def numbers(text: str) -> Counter[str]:
    """Return the digits of each number in a text; `1,000` and `1.000` are the same number."""
    return Counter(
        re.sub(r"\D", "", match) for match in re.findall(r"\d++(?:[.,' \u00a0\u202f]\d{3})*+(?:[.,]\d++)?", text)
    )
