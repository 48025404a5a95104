"""Another of the n-best, where the best translation is broken: empty, a loop, cut off, a copy, or in another script.

An empty one is always replaced; the others on demand, since a copy or another script may be what is wanted.

Only broken sentences are searched again, with more hypotheses, so ordinary ones cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from tongsa.decoding.search import Search
from tongsa.text.breakage import foreign_text
from tongsa.translation.repetition import LENGTH_LIMIT, REPETITION_CUT
from tongsa.translation.sentences import Sentence, Translation

CANDIDATES = 8
"""Hypotheses among which one that is not broken is looked for."""

EMPTY = "empty"

REASONS = {
    REPETITION_CUT: "a loop",
    LENGTH_LIMIT: "cut off",
    "copy": "a copy of the source",
    "script": "in another script",
}

SearchAgain = Callable[[list[list[int]], Search], Iterable[Translation]]


def reason_against(
    source: str, translation: Translation, languages: tuple[str, str], *, only_empty: bool = False
) -> str | None:
    """Return why a translation is broken, or None if it is not."""
    if not translation.text.strip():
        return EMPTY if any(map(str.isalpha, source)) else None
    if only_empty:
        return None
    noted = next((note for note in translation.notes if note in REASONS), None)
    found = noted or foreign_text(source, translation.text, *languages)
    return REASONS[found] if found else None


def without_broken(
    sentences: Sequence[Sentence],
    made: Mapping[int, Translation],
    languages: tuple[str, str],
    search: Search,
    search_again: SearchAgain,
    *,
    only_empty: bool = False,
) -> dict[int, Translation]:
    """Return the translations with broken ones replaced, where one of the n-best is not; a note says so.

    `made` holds translations by the index of their sentence; `search_again` returns translations with alternatives.
    """
    reasons = {
        place: reason
        for place, translation in made.items()
        if (reason := reason_against(sentences[place].text, translation, languages, only_empty=only_empty))
    }
    if not reasons:
        return dict(made)
    count = max(CANDIDATES, search.beam)
    wider = replace(search, beam=count, nbest=count)
    replaced = dict(made)
    groups = search_again([sentences[place].ids for place in reasons], wider)
    for (place, reason), best in zip(reasons.items(), groups, strict=True):
        for other in (best, *best.alternatives):
            if not reason_against(sentences[place].text, other, languages, only_empty=only_empty):
                notes = (*other.notes, fallback_note(reason))
                replaced[place] = replace(other, alternatives=(), notes=notes)
                break
    return replaced


def fallback_note(reason: str) -> str:
    return f"another of the n-best was taken, as the best was {reason}"
