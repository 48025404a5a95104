"""Segments in, outcomes out: memory, sentences, ways from the best to the safest, and a check that nothing broke."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tongsa.base.progress import Show, Silent
from tongsa.documents.glossary import Glossary
from tongsa.documents.memory import Memory
from tongsa.documents.protect import Masked, mask, sound
from tongsa.documents.ways import WAYS, Answer, InPieces, Sentence, Translated, Way, has_letters, numbers
from tongsa.formats.segments import Outcome, Segment, plain
from tongsa.text.sentences import gap, split
from tongsa.translation.confidence import CUT, Calibration

BRANCHING = re.compile(r"\{\s*\w+\s*,\s*(?:plural|select|selectordinal|choice)\b")
"""ICU messages: `{count, plural, one {# file} other {# files}}`."""
BRANCHES = "the branches of an ICU message left in the source language"
BLOCK = 256
"""Texts translated together: enough for full batches, few enough to show progress."""


class CardLike(Protocol):
    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def confidence(self) -> tuple[tuple[float, float], ...]: ...


class TranslatorLike(Protocol):
    """What documents need of a translator."""

    @property
    def card(self) -> CardLike: ...

    def translate(self, texts: Sequence[str], /, *, alignment: bool = False) -> Sequence[Translated]: ...


@dataclass(frozen=True, kw_only=True)
class Help:
    """What people know that the model does not."""

    glossary: Glossary = field(default_factory=Glossary)
    memory: Memory = field(default_factory=Memory)


@dataclass(frozen=True)
class _Part:
    """A sentence of a segment, and the white space before and after it."""

    before: str
    sentence: Sentence
    after: str


@dataclass
class _Plan:
    """A segment on its way."""

    segment: Segment
    masked: Masked
    parts: list[_Part]


def translate_segments(
    segments: Sequence[Segment], translator: TranslatorLike, help: Help | None = None, show: Show | None = None
) -> list[Outcome]:
    """An outcome for each segment, in order. Every mark of a segment is in its outcome exactly once, always."""
    help = help or Help()
    outcomes: dict[int, Outcome] = {}
    plans: dict[int, _Plan] = {}
    for index, segment in enumerate(segments):
        masked = mask(segment.content, help.glossary)
        known = _from_memory(segment, masked, help.memory)
        if known:
            outcomes[index] = known
        elif not has_letters(masked.text) and not any(mark.term for mark in masked.marks.values()):
            outcomes[index] = _copied(segment, masked)
        else:
            plans[index] = _Plan(segment, masked, _parts(segment, masked, translator.card.source))
    sentences = [part.sentence for plan in plans.values() for part in plan.parts]
    answers = iter(_answers(sentences, translator, show or Silent()))
    calibration = Calibration.of(translator.card.confidence)
    for index, plan in plans.items():
        outcomes[index] = _outcome(plan, [next(answers) for _ in plan.parts], translator.card, calibration, help.memory)
    return [outcomes[index] for index in range(len(segments))]


def _from_memory(segment: Segment, masked: Masked, memory: Memory) -> Outcome | None:
    """An exact match, provided that it holds the same marks; the format's own tags are in no memory."""
    if any(isinstance(part, str) is False for part in segment.content):
        return None
    source = plain(segment.content)
    target = memory.exact(source)
    if target is None:
        return None
    before, after = _edges(source)
    written = before + target.strip() + after
    if not _same_placeholders(segment, source, written):
        return None
    return Outcome(content=(written,), state="memory", confidence=1.0, notes=("from the translation memory",))


def _copied(segment: Segment, masked: Masked) -> Outcome:
    """Nothing to translate; unless a person has to, since what is inside of a branch is text."""
    if _branches(masked):
        return Outcome(content=segment.content, state="source", confidence=0.0, notes=(BRANCHES,))
    return Outcome(content=segment.content, state="copied", confidence=1.0)


def _branches(masked: Masked) -> bool:
    return any(BRANCHING.match(mark.text) for mark in masked.marks.values())


def _same_placeholders(segment: Segment, source: str, target: str) -> bool:
    hidden, other = mask((source,), Glossary()), mask((target,), Glossary())
    same = sorted(mark.text for mark in hidden.marks.values()) == sorted(mark.text for mark in other.marks.values())
    return same and (segment.accepts is None or segment.accepts(target))


def _edges(text: str) -> tuple[str, str]:
    """The white space around a text that has more than white space."""
    return text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]


def _parts(segment: Segment, masked: Masked, language: str) -> list[_Part]:
    parts = []
    for text in (sentence for line in masked.lines() for sentence in split(line, language)):
        before, after = _edges(text)
        inner = text.strip()
        if not inner:
            before, after = text, ""
        parts.append(_Part(before, Sentence(masked=masked.part(inner), fragile=segment.fragile), after))
    return parts


def _answers(sentences: Sequence[Sentence], translator: TranslatorLike, show: Show) -> list[Answer | None]:
    """The first way that works, for each sentence; all that want the same way are translated together."""
    answers: list[Answer | None] = [None] * len(sentences)
    waiting = []
    for index, sentence in enumerate(sentences):
        if has_letters(sentence.masked.text) or sentence.masked.marks:
            waiting.append(index)
    for way in WAYS:
        wanted = {index: texts for index in waiting if (texts := way.texts(sentences[index]))}
        translated = _translated([text for texts in wanted.values() for text in texts], way, translator, show)
        for index, texts in wanted.items():
            answers[index] = way.answer(sentences[index], [translated[text] for text in texts])
        waiting = [index for index in waiting if answers[index] is None]
    return answers


def _translated(texts: Iterable[str], way: Way, translator: TranslatorLike, show: Show) -> dict[str, Translated]:
    """Each text once."""
    once = sorted(dict.fromkeys(texts), key=len)  # like lengths together: fuller batches
    found: dict[str, Translated] = {}
    if not once:
        return found
    with show.bar("translating", len(once), "texts") as bar:
        for first in range(0, len(once), BLOCK):
            block = once[first : first + BLOCK]
            # Who needs no alignment does not ask for one: it takes time.
            answers = translator.translate(block, alignment=True) if way.alignment else translator.translate(block)
            found.update(zip(block, answers, strict=True))
            bar.advance(len(block))
    return found


def _outcome(
    plan: _Plan, answers: list[Answer | None], card: CardLike, calibration: Calibration, memory: Memory
) -> Outcome:
    text: list[str] = []
    notes: dict[str, None] = {}
    marks = dict(plan.masked.marks)
    confidences: list[tuple[float, int]] = []
    for number, (part, answer) in enumerate(zip(plan.parts, answers, strict=True)):
        following = plan.parts[number + 1].sentence.masked.text if number + 1 < len(plan.parts) else ""
        between = has_letters(part.sentence.masked.text) and has_letters(following)
        text += [part.before, answer.masked.text if answer else part.sentence.masked.text]
        text.append(gap(part.after, card.source, card.target) if between else part.after)
        if answer:
            marks.update(answer.masked.marks)
            notes.update(dict.fromkeys(answer.notes))
            cut = CUT if InPieces.NOTE in answer.notes else 1.0
            confidences.append((cut * calibration(answer.average), len(part.sentence.masked.text)))
        elif has_letters(part.sentence.masked.text):
            notes["a sentence left in the source language"] = None
            confidences.append((0.0, len(part.sentence.masked.text)))
    near = memory.near(plain(plan.segment.content)) if memory.entries else None
    written = Masked("".join(text), marks)
    whole = sum(length for _, length in confidences)
    confidence = sum(value * length for value, length in confidences) / whole if whole else 0.0
    if not any(answers) or not sound(plan.segment, plan.masked, written.text):
        return Outcome(
            content=plan.segment.content,
            state="source",
            confidence=0.0,
            notes=("left in the source language",),
            near=near,
        )
    if _branches(plan.masked):
        notes[BRANCHES] = None
        confidence = 0.0
    content = _flattened(written, plan.segment)
    if numbers(plain(content)) != numbers(plain(plan.segment.content)):
        notes["numbers differ"] = None
    return Outcome(content=content, state="translated", confidence=confidence, notes=tuple(notes), near=near)


def _flattened(written: Masked, segment: Segment) -> tuple[str | Any, ...]:
    """What the engine hid is text again; what the format gave as a mark goes back as a mark."""
    parts: list[str | Any] = []
    for part in written.content():
        piece = part if isinstance(part, str) or part.number >= 0 else part.output
        if isinstance(piece, str) and parts and isinstance(parts[-1], str):
            parts[-1] += piece
        else:
            parts.append(piece)
    return tuple(parts)
