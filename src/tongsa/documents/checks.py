"""Checks of finished translations: what they find is a note, and puts the translation into the review."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tongsa.formats.segments import Mark, Outcome, Segment, visible
from tongsa.translation.glossary import Glossary, seen_form


def checked(segment: Segment, outcome: Outcome, glossary: Glossary) -> Outcome:
    """Return the outcome with notes on missing terms and on a translation that is too long for its place."""
    if not outcome.changed:
        return outcome
    notes = [*_missing_terms(visible(segment.content), outcome.text, glossary), *_too_long(segment, outcome)]
    return replace(outcome, notes=(*outcome.notes, *notes)) if notes else outcome


def _missing_terms(source: str, target: str, glossary: Glossary) -> Iterator[str]:
    """Each term of the glossary that the source has and whose translation, in any form, the target lacks."""
    terms = {part.text: part for part in glossary.terms_in(source) if isinstance(part, Mark)}
    for text, term in terms.items():
        if not (seen_form(term.output, target) if term.term else text in target):
            yield f"term missing: {text} -> {term.output}"


def _too_long(segment: Segment, outcome: Outcome) -> Iterator[str]:
    if segment.longest is not None and len(outcome.text) > segment.longest:
        yield f"too long: {len(outcome.text):,} characters, at most {segment.longest:,} are allowed"
