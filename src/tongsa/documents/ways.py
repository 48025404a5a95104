"""Ways to translate a sentence with marks, from the best to the safest.

    as it is     placeholders stay in the text, tags are taken out and put back by attention
    terms given  the same, with the target form of glossary terms already in the source
    stand-ins    placeholders are `{1}`, `{2}`, ...: short, and all alike
    in pieces    the text between the marks is translated piece by piece; the marks stay where they are

A way says what it wants translated and makes an answer of it, or none if a mark was lost. What no way can do stays in
the source language: the engine sees to that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tongsa.documents.glossary import seen_form
from tongsa.documents.project import Aligned, project, shown
from tongsa.documents.protect import Masked, is_tag, problem
from tongsa.translation.confidence import average


class Translated(Protocol):
    """What ways need to know of a translation: `tongsa.translation.translator.Translation` has it."""

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
class Sentence:
    """A sentence of a segment, without the white space around it."""

    masked: Masked
    fragile: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A translation with every mark in it, as a masked text, and the average log-probability of its tokens."""

    masked: Masked
    average: float
    notes: tuple[str, ...] = ()


class Way(Protocol):
    alignment: bool
    """Whether the answer needs to know which word became which."""

    def texts(self, sentence: Sentence) -> list[str]:
        """What to translate; nothing where this way does not fit."""
        ...

    def answer(self, sentence: Sentence, translations: Sequence[Translated]) -> Answer | None: ...


class AsItIs:
    """Marks that are words stay; tags come back by attention."""

    def __init__(self, *, tags: bool, terms_given: bool = False) -> None:
        self.alignment = tags
        self.terms_given = terms_given

    def texts(self, sentence: Sentence) -> list[str]:
        masked = sentence.masked
        if self.alignment != bool(_tags(masked)):
            return []
        if self.terms_given and not any(mark.term for mark in masked.marks.values()):
            return []
        return [self._shown(masked)]

    def _shown(self, masked: Masked) -> str:
        return shown(self._given(masked), _tags(masked), masked.text)

    def _given(self, masked: Masked) -> Masked:
        if not self.terms_given:
            return masked
        marks = {mask: replace(mark, text=mark.output) if mark.term else mark for mask, mark in masked.marks.items()}
        return Masked(masked.text, marks)

    def answer(self, sentence: Sentence, translations: Sequence[Translated]) -> Answer | None:
        (translation,) = translations
        masked = sentence.masked
        text = translation.text.strip()
        if translation.text == self._shown(masked):  # the same in both languages
            return _answer(sentence, masked, translations)
        if tags := _tags(masked):
            aligned = Aligned.of(
                (self._shown(masked), text), (translation.source_tokens, translation.tokens), translation.alignment
            )
            if not aligned:
                return None
            text = project(self._given(masked), tags, text, aligned)
        found = locate(masked, [mask for mask in masked.masks() if mask not in tags], text)
        return _answer(sentence, found, [translation]) if found else None


class StandIns:
    """Placeholders are all alike for the model."""

    alignment = False
    FORM = "{{{}}}"

    def texts(self, sentence: Sentence) -> list[str]:
        masked = sentence.masked
        if not masked.marks or any(is_tag(mark) for mark in masked.marks.values()) or re.search(r"\{\d", masked.text):
            return []
        text = masked.text
        for number, mask in enumerate(masked.masks(), 1):
            text = text.replace(mask, self.FORM.format(number))
        return [text]

    def answer(self, sentence: Sentence, translations: Sequence[Translated]) -> Answer | None:
        text = translations[0].text.strip()
        for number, mask in enumerate(sentence.masked.masks(), 1):
            text = text.replace(self.FORM.format(number), mask)
        return _answer(sentence, Masked(text, sentence.masked.marks), translations)


class InPieces:
    """Marks stay where they are; what is between them is translated by itself."""

    alignment = False
    NOTE = "translated in pieces"

    def texts(self, sentence: Sentence) -> list[str]:
        return [_core(piece) for piece in self._pieces(sentence) if has_letters(piece)]

    def _pieces(self, sentence: Sentence) -> list[str]:
        return re.split("([\U000f0000-\U000ffffd])", sentence.masked.text)

    def answer(self, sentence: Sentence, translations: Sequence[Translated]) -> Answer | None:
        rest = iter(translations)
        written: list[str] = []
        used: list[Translated] = []
        left = 0
        for piece in self._pieces(sentence):
            if not has_letters(piece):
                written.append(piece)
                continue
            translation = next(rest)
            text = translation.text.strip()
            if not has_letters(text) or problem(Masked(_core(piece), {}), text, sentence.fragile):
                written.append(piece)
                left += 1
                continue
            used.append(translation)
            written.append(text.join(_shell(piece)))
        if not used:
            return None
        answer = _answer(sentence, Masked("".join(written), sentence.masked.marks), used)
        notes = (self.NOTE, *((f"{left} of its pieces left in the source language",) if left else ()))
        return replace(answer, notes=(*notes, *answer.notes)) if answer else None


def _shell(piece: str) -> tuple[str, str]:
    """Blanks, commas and brackets on the two sides of a piece stay with the marks; a full stop is the model's."""
    before = re.match(r"[\W_]*", piece)
    after = re.search(r"[^\w.!?…。！？]*$", piece)
    assert before, "it matches the empty text"
    assert after, "it matches the empty text"
    return before.group(), after.group()


def _core(piece: str) -> str:
    before, after = _shell(piece)
    return piece[len(before) : len(piece) - len(after)]


WAYS: tuple[Way, ...] = (
    AsItIs(tags=False),
    AsItIs(tags=True),
    AsItIs(tags=False, terms_given=True),
    AsItIs(tags=True, terms_given=True),
    StandIns(),
    InPieces(),
)


def has_letters(text: str) -> bool:
    return any(c.isalpha() for c in text)


def _tags(masked: Masked) -> list[str]:
    return [mask for mask in masked.masks() if is_tag(masked.marks[mask])]


def _answer(sentence: Sentence, masked: Masked, translations: Sequence[Translated]) -> Answer | None:
    if has_letters(sentence.masked.text) and not has_letters(masked.text):
        return None
    if not masked.text.strip() or problem(sentence.masked, masked.text, sentence.fragile):
        return None
    notes = dict.fromkeys(note for translation in translations for note in translation.notes)
    logs = [translation.log_probability for translation in translations]
    return Answer(
        masked=masked,
        average=average(logs, [len(translation.tokens) for translation in translations]),
        notes=tuple(notes),
    )


def locate(source: Masked, masks: Sequence[str], text: str) -> Masked | None:
    """Put masks back for the words they stand for; none where one of them is not found, or found too often."""
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
    return Masked(text, marks)


def numbers(text: str) -> Counter[str]:
    """The digits of a text, number by number: `1,000` and `1.000` are the same one."""
    return Counter(
        re.sub(r"\D", "", match) for match in re.findall(r"\d+(?:[.,' \u00a0\u202f]\d{3})*(?:[.,]\d+)?", text)
    )
