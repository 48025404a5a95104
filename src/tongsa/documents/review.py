"""A table of translations to review, the least certain first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tongsa.base.files import write_atomically
from tongsa.documents.files import TranslatedDocument
from tongsa.formats.segments import Near, Outcome, Segment, visible

BELOW = 0.5
"""Confidence from which a translation needs no review, unless something else is wrong with it."""

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


def wants_review(outcome: Outcome, below: float = BELOW) -> bool:
    if outcome.state in ("copied", "memory"):
        return False
    return outcome.state == "source" or outcome.confidence < below or bool(outcome.notes) or outcome.near is not None


def write_review(path: Path, documents: Sequence[TranslatedDocument], below: float = BELOW) -> int:
    """Write a TSV file, the least certain first; return the number of rows."""
    rows = [
        (outcome.confidence, _row(document.source, segment, outcome))
        for document in documents
        for segment, outcome in zip(document.segments, document.outcomes, strict=True)
        if wants_review(outcome, below)
    ]
    rows.sort(key=lambda row: row[0])
    lines = ["\t".join(COLUMNS), *("\t".join(cells) for _, cells in rows)]
    write_atomically(path, "\n".join(lines) + "\n")
    return len(rows)


def _row(path: Path, segment: Segment, outcome: Outcome) -> list[str]:
    cells = [
        f"{outcome.confidence:.3f}",
        outcome.state,
        str(path),
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
