"""Checks of finished translations: what they find is a note, and puts the translation into the review."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tongsa.documents.placeholders import is_plain, keeps_plain_text
from tongsa.documents.strategies import SentenceTranslation
from tongsa.formats.segments import Outcome, Segment, plain, visible
from tongsa.translation.glossary import Glossary, missing, missing_note

SHORTER = "a shorter translation was taken, as the best one is too long"
ALTERNATIVES = 9
"""Number of further translations among which a shorter one is looked for."""


def checked(segment: Segment, outcome: Outcome, glossary: Glossary) -> Outcome:
    """Return the outcome with notes on missing terms and on a translation that is too long for its place."""
    if not outcome.changed:
        return outcome
    source = visible(segment.content)
    terms = [missing_note(source, term) for term in missing(glossary.find(source), outcome.text)]
    notes = [*terms, *_too_long(segment, outcome)]
    return replace(outcome, notes=tuple(dict.fromkeys((*outcome.notes, *notes)))) if notes else outcome


def _too_long(segment: Segment, outcome: Outcome) -> Iterator[str]:
    if segment.longest is not None and (excess := segment.excess(outcome.text)):
        unit = "bytes" if segment.in_bytes else "characters"
        yield f"too long: {segment.longest + excess:,} {unit}, at most {segment.longest:,} are allowed"


def shorter(
    segments: Sequence[Segment],
    outcomes: Sequence[Outcome],
    translate: Callable[[Sequence[str]], Sequence[SentenceTranslation]],
    glossary: Glossary,
) -> list[Outcome]:
    """Replace translations that are too long by the best alternative that fits, for sentences without marks.

    `translate` returns translations with alternatives; it is called once, and only if something is too long.
    """
    new = list(outcomes)
    wanted = [
        index
        for index, (segment, outcome) in enumerate(zip(segments, outcomes, strict=True))
        if outcome.state == "translated" and segment.excess(outcome.text) and is_plain(plain(segment.content))
    ]
    texts = [plain(segments[index].content) for index in wanted]
    for index, text, found in zip(wanted, texts, translate(texts) if texts else (), strict=True):
        segment = segments[index]
        for other in found.alternatives:
            written = text.replace(text.strip(), other.text.strip())
            if (
                not segment.excess(written)
                and keeps_plain_text(text, written)
                and not missing(glossary.find(text), written)
                and (segment.accepts is None or segment.accepts(written))
            ):
                confidence = min(outcomes[index].confidence, other.confidence or 0.0)
                notes = (*outcomes[index].notes, SHORTER)
                new[index] = replace(outcomes[index], content=(written,), confidence=confidence, notes=notes)
                break
    return new
