"""The translations that a person should look at, the least certain first, with the reasons.

The suffix of the file chooses how they are written. A table (`.tsv`) is to be read. A catalog (`.po`) or an XLIFF file
(`.xliff`) is to be worked in: every unit is marked as unfinished, and those that a person has corrected and marked as
finished are used when the file is given as a translation memory. `review_files.py` writes these two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tongsa.base.files import write_atomically
from tongsa.documents.files import TranslatedDocument
from tongsa.documents.review_files import ReviewUnit, write_catalog, write_xliff
from tongsa.documents.tagged import tagged, tagged_like
from tongsa.formats.segments import Languages, Near, Outcome, Segment, visible

BELOW = 0.5
"""Confidence from which a translation needs no review, unless something else is wrong with it."""

ONLY_THERE = "a correction here has no effect: edit the document"

COLUMNS = (
    "confidence",
    "state",
    "file",
    "place",
    "source",
    "target",
    "notes",
    "near source",
    "near target",
    "likeness",
)


class Doubtful(NamedTuple):
    """A translation to review, and where it is."""

    document: TranslatedDocument
    segment: Segment
    outcome: Outcome


def wants_review(outcome: Outcome, below: float = BELOW) -> bool:
    if outcome.state == "copied":
        return False
    if outcome.state in ("source", "fuzzy") or outcome.notes:
        return True
    return outcome.state != "memory" and (outcome.confidence < below or outcome.near is not None)


def doubtful(documents: Sequence[TranslatedDocument], below: float = BELOW) -> list[Doubtful]:
    """The translations to review, the least certain first."""
    found = [
        Doubtful(document, segment, outcome)
        for document in documents
        for segment, outcome in zip(document.segments, document.outcomes, strict=True)
        if wants_review(outcome, below)
    ]
    return sorted(found, key=lambda each: each.outcome.confidence)


def reasons(outcome: Outcome, below: float = BELOW) -> Iterator[str]:
    """Why a translation is to be reviewed."""
    yield from outcome.notes
    if outcome.state == "translated" and outcome.confidence < below:
        yield f"confidence {outcome.confidence:.2f}"


def write_review(
    path: Path, documents: Sequence[TranslatedDocument], languages: Languages, below: float = BELOW
) -> int:
    """Write the translations to review in the format of the suffix, by default a table; return how many there are."""
    found = doubtful(documents, below)
    if path.suffix.lower() == ".po":
        write_catalog(path, languages, [_unit(each, below) for each in found])
    elif path.suffix.lower() in (".xliff", ".xlf"):
        write_xliff(path, languages, [_unit(each, below) for each in found])
    else:
        lines = ["\t".join(COLUMNS), *("\t".join(_row(each)) for each in found)]
        write_atomically(path, "\n".join(lines) + "\n")
    return len(found)


def _unit(each: Doubtful, below: float) -> ReviewUnit:
    """The unit as text, with a tag for each mark of the format, so that a correction can be put back."""
    _, segment, outcome = each
    source = tagged(segment.content)
    return ReviewUnit(
        file=str(each.document.source),
        place=segment.id,
        source=visible(segment.content) if source is None else source,
        target=visible(outcome.content) if source is None else tagged_like(segment.content, outcome.content),
        state=outcome.state,
        notes=(*reasons(outcome, below), *_similar(outcome), *([ONLY_THERE] if segment.left else [])),
        near=outcome.near,
        longest=segment.longest,
        in_bytes=segment.in_bytes,
    )


def _similar(outcome: Outcome) -> Iterator[str]:
    if (near := outcome.near) and outcome.state != "fuzzy":
        yield f"the memory has a similar text ({near.likeness:.0%}): {near.source} -> {near.target}"


def _row(each: Doubtful) -> list[str]:
    document, segment, outcome = each
    cells = [
        f"{outcome.confidence:.5f}",
        outcome.state,
        str(document.source),
        segment.id,
        visible(segment.content),
        visible(outcome.content),
        "; ".join(outcome.notes),
        *_near(outcome.near),
    ]
    return [_escaped(cell) for cell in cells]


def _near(near: Near | None) -> list[str]:
    return [near.source, near.target, f"{near.likeness:.2f}"] if near else ["", "", ""]


def _escaped(cell: str) -> str:
    """Escape a text, so that it stays in one cell and on one line."""
    return cell.replace("\\", "\\\\").replace("\t", "\\t").replace("\r", "\\r").replace("\n", "\\n")
