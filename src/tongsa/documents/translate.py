"""Translate segments: memory, sentences, strategies from the best to the safest, and a check that nothing is broken."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Protocol

from tongsa.base.progress import Show, Silent
from tongsa.documents.checks import ALTERNATIVES, checked, shorter
from tongsa.documents.memory import Memory
from tongsa.documents.placeholders import MaskedText, acceptable, mask, merged, stand_apart
from tongsa.documents.pretranslation import from_memory, near_entry
from tongsa.documents.strategies import (
    HIDDEN,
    LAST_RESORT,
    NUMBERED,
    SHOWN,
    Candidate,
    MaskedSentence,
    SentenceTranslation,
    Strategy,
    agree,
    best,
    numbers,
)
from tongsa.formats.segments import Content, Mark, Outcome, Segment, State, plain
from tongsa.translation.confidence import weighted_mean
from tongsa.translation.glossary import Glossary
from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import Part, cut, has_letters, join_texts

BRANCHING = re.compile(r"\{\s*+\w++\s*+,\s*+(?:plural|select|selectordinal|choice)\b")
"""ICU messages: `{count, plural, one {# file} other {# files}}`."""
BRANCHES = "the branches of an ICU message left in the source language"
LONGEST = 1_000
"""Characters of a sentence, with one for each mark; text without spaces is cut anywhere."""
BLOCK = 256
"""Number of texts translated together: enough for full batches, few enough to show progress."""


class CardLike(Protocol):
    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...


class TranslatorLike(Protocol):
    """The part of a translator that documents use."""

    @property
    def card(self) -> CardLike: ...

    def translate(self, texts: Sequence[str], options: TranslateOptions, /) -> Sequence[SentenceTranslation]: ...


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Resources of the user: terms, and earlier translations."""

    glossary: Glossary = field(default_factory=Glossary)
    memory: Memory = field(default_factory=Memory)
    fuzzy: float | None = None
    """Likeness from which the memory's translation of a similar text is used; by default such entries are shown."""


@dataclass(frozen=True)
class _WithGlossary:
    """A translator that uses the terms of a glossary."""

    translator: TranslatorLike
    glossary: Glossary

    @property
    def card(self) -> CardLike:
        return self.translator.card

    def translate(self, texts: Sequence[str], options: TranslateOptions, /) -> Sequence[SentenceTranslation]:
        return self.translator.translate(texts, replace(options, glossary=self.glossary or None))


@dataclass
class _Plan:
    """A segment to translate, split into sentences with masked marks."""

    segment: Segment
    masked: MaskedText
    parts: list[Part]

    def sentences(self) -> list[MaskedSentence]:
        return [MaskedSentence(masked=self.masked.part(part.text), fragile=self.segment.fragile) for part in self.parts]


def translate_segments(
    segments: Sequence[Segment],
    translator: TranslatorLike,
    resources: Resources | None = None,
    show: Show | None = None,
) -> list[Outcome]:
    """Return an outcome for each segment, in order. Every mark of a segment is in its outcome exactly once."""
    resources = resources or Resources()
    translator = _WithGlossary(translator, resources.glossary)
    groups: list[list[Outcome | _Plan]] = []
    for segment in segments:
        known = _left(segment) or from_memory(segment, resources.memory, resources.fuzzy)
        groups.append([known] if known else _plans(segment, translator.card.source))
    plans = [each for group in groups for each in group if isinstance(each, _Plan)]
    sentences = [sentence for plan in plans for sentence in plan.sentences()]
    candidates = iter(_candidates(sentences, translator, show or Silent()))

    def outcome(plan: Outcome | _Plan) -> Outcome:
        if isinstance(plan, Outcome):
            return plan
        found = [next(candidates) for _ in plan.parts]
        return _outcome(plan, found, translator.card, resources.memory)

    outcomes = [
        _joined(segment, [outcome(each) for each in group]) for segment, group in zip(segments, groups, strict=True)
    ]
    more = TranslateOptions(alternatives=ALTERNATIVES)
    outcomes = shorter(segments, outcomes, lambda texts: translator.translate(texts, more), resources.glossary)
    return [checked(*pair, resources.glossary) for pair in zip(segments, outcomes, strict=True)]


def _plans(segment: Segment, language: str) -> list[Outcome | _Plan]:
    """Return a plan for the segment, or an outcome if there is nothing to translate; several for very many marks."""
    plans: list[Outcome | _Plan] = []
    masked_texts = mask(segment.content)
    for masked in masked_texts:
        part = segment if len(masked_texts) == 1 else replace(segment, content=_flattened(masked), accepts=None)
        if has_letters(masked.text):
            sentences = [each for line in masked.lines() for each in cut(line, language, longest=LONGEST)]
            plans.append(_Plan(part, masked, sentences))
        else:
            plans.append(_copied(part, masked))
    return plans


def _joined(segment: Segment, outcomes: Sequence[Outcome]) -> Outcome:
    """Join the outcomes of the parts of a segment."""
    if len(outcomes) == 1:
        return outcomes[0]
    content = tuple(merged(part for outcome in outcomes for part in outcome.content))
    states = {outcome.state for outcome in outcomes}
    notes = tuple(dict.fromkeys(note for outcome in outcomes for note in outcome.notes))
    if "translated" not in states or (segment.accepts and not segment.accepts(plain(content))):
        state: State = "copied" if states == {"copied"} else "source"
        return Outcome(content=segment.content, state=state, confidence=float(state == "copied"), notes=notes)
    confidence = weighted_mean([(outcome.confidence, len(outcome.text)) for outcome in outcomes])
    return Outcome(content=content, state="translated", confidence=confidence, notes=notes)


def _left(segment: Segment) -> Outcome | None:
    """Return the outcome of a segment that the format does not want translated, but a person should know of."""
    if not segment.left:
        return None
    return Outcome(content=segment.content, state="source", confidence=0.0, notes=(segment.left,))


def _copied(segment: Segment, masked: MaskedText) -> Outcome:
    """Return a copy, as there is nothing to translate, except the branches of ICU messages, which need a person."""
    if _branches(masked):
        return Outcome(content=segment.content, state="source", confidence=0.0, notes=(BRANCHES,))
    return Outcome(content=segment.content, state="copied", confidence=1.0)


def _branches(masked: MaskedText) -> bool:
    return any(BRANCHING.match(mark.text) for mark in masked.marks.values())


def _candidates(sentences: Sequence[MaskedSentence], translator: TranslatorLike, show: Show) -> list[Candidate | None]:
    """Return the best candidate for each sentence, in as few batches as possible."""
    found: list[Candidate | None] = [None] * len(sentences)
    waiting = [index for index, sentence in enumerate(sentences) if has_letters(sentence.masked.text)]
    translations: dict[tuple[str, bool], SentenceTranslation] = {}

    def tried(strategy: Strategy, wanted: Iterable[int]) -> dict[int, Candidate | None]:
        here = {}
        for index in wanted:
            if texts := strategy.texts(sentences[index]):
                aligned = bool(sentences[index].masked.marks)
                here[index] = strategy.candidate(sentences[index], [translations[text, aligned] for text in texts])
        return here

    def translate(*strategies: Strategy, wanted: Iterable[int]) -> None:
        texts = [
            (text, bool(sentences[index].masked.marks))
            for index in wanted
            for strategy in strategies
            for text in strategy.texts(sentences[index])
        ]
        translations.update(_translated([text for text in texts if text not in translations], translator, show))

    translate(SHOWN, HIDDEN, wanted=waiting)
    shown, hidden = tried(SHOWN, waiting), tried(HIDDEN, waiting)
    unsure = [index for index in hidden if not ((a := shown.get(index)) and (b := hidden[index]) and agree(a, b))]
    translate(NUMBERED, wanted=unsure)
    numbered = tried(NUMBERED, unsure)
    for index in waiting:
        apart = index in hidden and stand_apart(sentences[index].masked)
        found[index] = best(shown.get(index), numbered.get(index), hidden.get(index), apart=apart)
    waiting = [index for index in waiting if found[index] is None]
    translate(LAST_RESORT, wanted=waiting)
    for index, candidate in tried(LAST_RESORT, waiting).items():
        found[index] = candidate
    return found


def _translated(
    texts: Iterable[tuple[str, bool]], translator: TranslatorLike, show: Show
) -> dict[tuple[str, bool], SentenceTranslation]:
    """Translate each distinct text once; those with marks get an alignment, which takes time."""
    once = sorted(dict.fromkeys(texts), key=lambda each: (each[1], len(each[0])))  # similar lengths fill batches
    found: dict[tuple[str, bool], SentenceTranslation] = {}
    if not once:
        return found
    with show.bar("translating", len(once), "texts") as bar:
        for alignment, group in groupby(once, key=lambda each: each[1]):
            keys = list(group)
            options = TranslateOptions(alignment=alignment)
            for first in range(0, len(keys), BLOCK):
                block = keys[first : first + BLOCK]
                found.update(zip(block, translator.translate([text for text, _ in block], options), strict=True))
                bar.advance(len(block))
    return found


def _outcome(plan: _Plan, candidates: list[Candidate | None], card: CardLike, memory: Memory) -> Outcome:
    near = near_entry(plan.segment, memory)
    texts = [each.masked.text if each else None for each in candidates]
    text = join_texts(plan.parts, texts, card.source, card.target)
    written = MaskedText(text, plan.masked.marks, plan.masked.escapes)
    if not any(candidates) or not acceptable(plan.segment, plan.masked, written.text):
        return Outcome(
            content=plan.segment.content,
            state="source",
            confidence=0.0,
            notes=("left in the source language",),
            near=near,
        )
    notes: dict[str, None] = {}
    confidences: list[tuple[float, int]] = []
    for part, candidate in zip(plan.parts, candidates, strict=True):
        if candidate:
            notes.update(dict.fromkeys(candidate.notes))
            confidences.append((candidate.confidence, len(part.text)))
        elif part.has_letters:
            notes["a sentence left in the source language"] = None
            confidences.append((0.0, len(part.text)))
    confidence = weighted_mean(confidences)
    if _branches(plan.masked):
        notes[BRANCHES] = None
        confidence = 0.0
    content = _flattened(written)
    if numbers(plain(written.content())) != numbers(plain(plan.masked.content())):
        notes["numbers differ"] = None
    return Outcome(content=content, state="translated", confidence=confidence, notes=tuple(notes), near=near)


def _flattened(written: MaskedText) -> Content:
    """Turn masks back into text, or into the marks that the format provided, and escape characters again."""
    table = str.maketrans(written.escapes)
    parts: list[str | Mark] = []
    for part in written.content():
        if isinstance(part, str):
            parts.append(part.translate(table) if written.escapes else part)
        else:
            parts.append(part if part.number >= 0 else part.output)
    return tuple(merged(parts))
