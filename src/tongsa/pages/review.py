"""The review of translated documents as a page: source and translation side by side, with confidence and reasons."""

from __future__ import annotations

from collections.abc import Sequence

from tongsa.documents.files import TranslatedDocument
from tongsa.documents.review import BELOW, Doubtful, doubtful, reasons
from tongsa.formats.segments import Languages, Outcome, State, visible
from tongsa.pages.examples import marked
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.markup import escape, tile

LONGEST = 2000
"""Maximum number of characters shown of a text."""
MOST = 2000
"""Maximum number of units shown of the review, and of each document."""
SURE = 0.75
"""Confidence from which a translation is shown as sure."""
STATES: dict[State, str] = {
    "translated": "translated",
    "memory": "from the memory",
    "fuzzy": "from a similar entry of the memory",
    "copied": "nothing to translate",
    "source": "left in the source language",
}


def draw_review(documents: Sequence[TranslatedDocument], languages: Languages, below: float = BELOW) -> str:
    found = doubtful(documents, below)
    total = sum(len(document.segments) for document in documents)
    names = ", ".join(document.source.name for document in documents[:3]) + (" …" if len(documents) > 3 else "")
    over = f"review, {escape(languages.source)} <i>→</i> {escape(languages.target)}"
    text = f"{len(found):,} of {total:,} translations should be looked at."
    sections = [
        Section(key="review", title="To review", note="the least certain first", content=_to_review(found, languages)),
        *(
            Section(key=f"document-{number}", title=document.source.name, content=_all_of(document, languages))
            for number, document in enumerate(documents, 1)
        ),
    ]
    top = heading(escape(names), over=over, text=text) + _tiles(documents)
    return page(f"Review of {names}", heading=top, sections=sections, footer="Written by tongsa document --review.")


def _tiles(documents: Sequence[TranslatedDocument]) -> str:
    states = [outcome.state for document in documents for outcome in document.outcomes]
    tiles = [tile(f"{states.count(state):,}", name) for state, name in STATES.items() if state in states]
    return f'<div class="tiles">{"".join(tiles)}</div>'


def _to_review(found: Sequence[Doubtful], languages: Languages) -> str:
    units = "".join(_unit(each, languages) for each in found[:MOST])
    return f'<div class="units">{units}</div>{_more(len(found))}' if units else "<p>Nothing.</p>"


def _more(count: int) -> str:
    return f'<p class="note">{count - MOST:,} more are not shown.</p>' if count > MOST else ""


def _unit(each: Doubtful, languages: Languages) -> str:
    document, segment, outcome = each
    source, target = _cut(visible(segment.content)), _cut(outcome.text)
    left, right, memory = escape(source), escape(target), ""
    if near := outcome.near:
        entry, left = marked(_cut(near.source), source, languages.source)
        translation = escape(_cut(near.target))
        if outcome.state == "fuzzy":
            translation, right = marked(_cut(near.target), target, languages.target)
        memory = (
            f'<p class="meta">similar entry of the memory, <b>{near.likeness:.0%}</b></p>'
            f'<div class="both memory">{_text(entry, languages.source)}{_text(translation, languages.target)}</div>'
        )
    why = "".join(f"<li>{escape(_cut(reason))}</li>" for reason in reasons(outcome))
    return (
        f'<article class="example"><p class="meta">{escape(document.source)}, {escape(segment.id)}'
        f" · {_confidence(outcome)} · {STATES[outcome.state]}</p>"
        f'<div class="both">{_text(left, languages.source, "source")}'
        f"{_text(right, languages.target, 'translation')}</div>"
        + (f'<ul class="reasons">{why}</ul>' if why else "")
        + f"{memory}</article>"
    )


def _text(html: str, language: str, kind: str = "") -> str:
    return f'<p class="{kind}" lang="{escape(language)}" dir="auto">{html or "<i>nothing</i>"}</p>'


def _confidence(outcome: Outcome) -> str:
    """The confidence in the colour of what it means; what comes from a similar text is never sure."""
    sure = outcome.confidence >= SURE and outcome.state != "fuzzy"
    kind = "surely" if sure else "unsure" if outcome.confidence >= BELOW else "doubt"
    return f'<b class="{kind}">{outcome.confidence:.2f}</b>'


def _all_of(document: TranslatedDocument, languages: Languages) -> str:
    """Every unit in the order of the document, folded."""
    rows = "".join(
        f'<div class="both">{_text(escape(_cut(visible(segment.content))), languages.source, "source")}'
        f"{_text(f'{escape(_cut(outcome.text))} {_confidence(outcome)}', languages.target)}</div>"
        for segment, outcome in list(zip(document.segments, document.outcomes, strict=True))[:MOST]
    )
    count = len(document.segments)
    target = f'<p class="note">written to {escape(document.target)}</p>'
    return f'{target}<details class="units"><summary>all {count:,} texts</summary>{rows}</details>{_more(count)}'


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text) - LONGEST:,} more characters)"
