"""Strategies for translating a sentence with marks (placeholders, tags, terms), from the best to the safest.

    in the text          placeholders stay in the text; tags are taken out and projected back along the alignment
    with target terms    the same, with the target form of glossary terms already in the source
    numbered             placeholders are written `{1}`, `{2}`, ...: short, and all alike
    piece by piece       the text between the marks is translated in pieces; the marks stay where they are

A strategy names the texts to translate and builds a candidate from their translations, or none if a mark was lost. A
sentence that no strategy can translate stays in the source language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tongsa.documents.placeholders import MaskedText, is_tag, problem
from tongsa.documents.projection import project_tags, visible_text
from tongsa.translation.alignment import TokenAlignment
from tongsa.translation.confidence import average
from tongsa.translation.glossary import seen_form
from tongsa.translation.sentences import has_letters

_NUMBERED = re.compile(r"\{[1-9]\d*+\}")
_BEFORE = re.compile(r"[\W_]++")
_AFTER = re.compile(r"(?<![^\w.!?…。！？])[^\w.!?…。！？]++$")


class SentenceTranslation(Protocol):
    """The part of `tongsa.Translation` that strategies use."""

    @property
    def text(self) -> str: ...
    @property
    def log_probability(self) -> float: ...
    @property
    def source_tokens(self) -> tuple[str, ...]: ...
    @property
    def tokens(self) -> tuple[str, ...]: ...
    @property
    def alignment(self) -> tuple[tuple[int, int], ...]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, kw_only=True)
class MaskedSentence:
    """A sentence of a segment, without the white space around it."""

    masked: MaskedText
    fragile: str


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A translation with every mark in it, as masked text, and the average log-probability of its tokens."""

    masked: MaskedText
    average: float
    notes: tuple[str, ...] = ()


class Strategy(Protocol):
    alignment: bool
    """True if the strategy needs translations with an alignment."""

    def texts(self, sentence: MaskedSentence) -> list[str]:
        """Return the texts to translate; none if this strategy does not apply."""
        ...

    def candidate(self, sentence: MaskedSentence, translations: Sequence[SentenceTranslation]) -> Candidate | None: ...


class InTheText:
    """Placeholders and terms stay in the text; tags are projected along the alignment."""

    def __init__(self, *, tags: bool, target_terms: bool = False) -> None:
        """`tags`: for sentences with tags, or those without. `target_terms`: show terms in their target form."""
        self.alignment = tags
        self.target_terms = target_terms

    def texts(self, sentence: MaskedSentence) -> list[str]:
        masked = sentence.masked
        if self.alignment != bool(_tags(masked)):
            return []
        if self.target_terms and not any(mark.term for mark in masked.marks.values()):
            return []
        return [self._visible(masked)]

    def _visible(self, masked: MaskedText) -> str:
        return visible_text(self._with_terms(masked), _tags(masked), masked.text)

    def _with_terms(self, masked: MaskedText) -> MaskedText:
        if not self.target_terms:
            return masked
        marks = {mask: replace(mark, text=mark.output) if mark.term else mark for mask, mark in masked.marks.items()}
        return MaskedText(masked.text, marks)

    def candidate(self, sentence: MaskedSentence, translations: Sequence[SentenceTranslation]) -> Candidate | None:
        (translation,) = translations
        masked = sentence.masked
        text = translation.text.strip()
        if translation.text == self._visible(masked):  # the same in both languages
            return _checked(sentence, masked, translations)
        if tags := _tags(masked):
            aligned = TokenAlignment.of(
                (self._visible(masked), text), (translation.source_tokens, translation.tokens), translation.alignment
            )
            if not aligned:
                return None
            text = project_tags(self._with_terms(masked), tags, text, aligned)
        found = locate(masked, [mask for mask in masked.masks() if mask not in tags], text)
        return _checked(sentence, found, [translation]) if found else None


class NumberedPlaceholders:
    """Placeholders are numbered, so that they all look similar to the model."""

    alignment = False
    FORM = "{{{}}}"

    def texts(self, sentence: MaskedSentence) -> list[str]:
        masked = sentence.masked
        if not masked.marks or any(is_tag(mark) for mark in masked.marks.values()) or re.search(r"\{\d", masked.text):
            return []
        numbers = {mask: self.FORM.format(number) for number, mask in enumerate(masked.masks(), 1)}
        return ["".join(numbers.get(piece, piece) for piece in masked.pieces())]

    def candidate(self, sentence: MaskedSentence, translations: Sequence[SentenceTranslation]) -> Candidate | None:
        masks = {self.FORM.format(number): mask for number, mask in enumerate(sentence.masked.masks(), 1)}
        text = _NUMBERED.sub(lambda match: masks.get(match.group(), match.group()), translations[0].text.strip())
        return _checked(sentence, MaskedText(text, sentence.masked.marks), translations)


class PieceByPiece:
    """Marks keep their order; the text between them is translated piece by piece."""

    alignment = False
    NOTE = "translated in pieces"

    def texts(self, sentence: MaskedSentence) -> list[str]:
        return [_core(piece) for piece in sentence.masked.pieces() if has_letters(piece)]

    def candidate(self, sentence: MaskedSentence, translations: Sequence[SentenceTranslation]) -> Candidate | None:
        rest = iter(translations)
        written: list[str] = []
        used: list[SentenceTranslation] = []
        left = 0
        for piece in sentence.masked.pieces():
            if not has_letters(piece):
                written.append(piece)
                continue
            translation = next(rest)
            text = translation.text.strip()
            if not has_letters(text) or problem(MaskedText(_core(piece), {}), text, sentence.fragile):
                written.append(piece)
                left += 1
                continue
            used.append(translation)
            written.append(text.join(_edges(piece)))
        if not used:
            return None
        candidate = _checked(sentence, MaskedText("".join(written), sentence.masked.marks), used)
        notes = (self.NOTE, *((f"{left} of its pieces left in the source language",) if left else ()))
        return replace(candidate, notes=(*notes, *candidate.notes)) if candidate else None


def _edges(piece: str) -> tuple[str, str]:
    """Split off spaces, commas and brackets around a piece, which stay with the marks; a full stop is translated."""
    before = _BEFORE.match(piece)
    after = _AFTER.search(piece)
    return before.group() if before else "", after.group() if after else ""


def _core(piece: str) -> str:
    before, after = _edges(piece)
    return piece[len(before) : len(piece) - len(after)]


STRATEGIES: tuple[Strategy, ...] = (
    InTheText(tags=False),
    InTheText(tags=True),
    InTheText(tags=False, target_terms=True),
    InTheText(tags=True, target_terms=True),
    NumberedPlaceholders(),
    PieceByPiece(),
)


def _tags(masked: MaskedText) -> list[str]:
    return [mask for mask in masked.masks() if is_tag(masked.marks[mask])]


def _checked(
    sentence: MaskedSentence, masked: MaskedText, translations: Sequence[SentenceTranslation]
) -> Candidate | None:
    """Return a candidate, or None if something is missing or was added."""
    if has_letters(sentence.masked.text) and not has_letters(masked.text):
        return None
    if not masked.text.strip() or problem(sentence.masked, masked.text, sentence.fragile):
        return None
    notes = dict.fromkeys(note for translation in translations for note in translation.notes)
    logs = [translation.log_probability for translation in translations]
    return Candidate(
        masked=masked,
        average=average(logs, [len(translation.tokens) for translation in translations]),
        notes=tuple(notes),
    )


def locate(source: MaskedText, masks: Sequence[str], text: str) -> MaskedText | None:
    """Replace words by the masks they represent; None if a word is not found, or found too often."""
    marks = dict(source.marks)
    literal: dict[str, list[str]] = {}
    for mask in masks:
        if not source.marks[mask].term:
            literal.setdefault(source.marks[mask].text, []).append(mask)
    for word in sorted(literal, key=len, reverse=True):  # the longest first: `%s` may be part of `%(name)s`
        if text.count(word) != len(literal[word]):
            return None
        for mask in literal[word]:
            text = text.replace(word, mask, 1)
    for mask in masks:
        mark = source.marks[mask]
        if not mark.term:
            continue
        match = seen_form(mark.output, text)
        if not match:
            return None
        text = text[: match.start()] + mask + text[match.end() :]
        marks[mask] = replace(mark, written=match.group())
    return MaskedText(text, marks)


def numbers(text: str) -> Counter[str]:
    """Return the digits of each number in a text; `1,000` and `1.000` are the same number."""
    return Counter(
        re.sub(r"\D", "", match) for match in re.findall(r"\d++(?:[.,' \u00a0\u202f]\d{3})*+(?:[.,]\d++)?", text)
    )
