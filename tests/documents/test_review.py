"""The table of what a person should look at: what is in it, in which order, and how it is written."""

from __future__ import annotations

from pathlib import Path

from tongsa.documents import TranslatedDocument
from tongsa.documents.review import write_review
from tongsa.formats.segments import Languages, Near, Outcome, Segment, State

LANGUAGES = Languages(source="en", target="de")


def outcome(text: str, confidence: float, state: State = "translated", **more: object) -> Outcome:
    return Outcome(content=(text,), state=state, confidence=confidence, **more)  # type: ignore[arg-type]


def reviewed(folder: Path, *outcomes: Outcome, below: float = 0.5) -> list[list[str]]:
    """The rows of a review of one document."""
    segments = [Segment(id=f"line {number}", content=("words",)) for number, _ in enumerate(outcomes, 1)]
    done = TranslatedDocument(Path("a.txt"), Path("a.de.txt"), segments, outcomes)
    count = write_review(folder / "review.tsv", [done], LANGUAGES, below)
    _, *rows = (folder / "review.tsv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == count
    return [row.split("\t") for row in rows]


def test_what_is_sure_needs_no_review(tmp_path: Path) -> None:
    sure = [outcome("a", 0.5), outcome("b", 0.9), outcome("c", 0.0, "copied"), outcome("d", 0.0, "memory")]
    assert reviewed(tmp_path, *sure) == []


def test_what_is_unsure_left_alone_noted_or_near_is_reviewed_least_certain_first(tmp_path: Path) -> None:
    near = Near(source="old words", target="alte Worte", likeness=0.876)
    rows = reviewed(
        tmp_path,
        outcome("near", 0.95, near=near),
        outcome("unsure", 0.49),
        outcome("left", 0.0, "source"),
        outcome("noted", 0.9, notes=("numbers differ", "in pieces")),
    )
    assert rows == [
        ["0.00000", "source", "a.txt", "line 3", "words", "left", "", "", "", ""],
        ["0.49000", "translated", "a.txt", "line 2", "words", "unsure", "", "", "", ""],
        ["0.90000", "translated", "a.txt", "line 4", "words", "noted", "numbers differ; in pieces", "", "", ""],
        ["0.95000", "translated", "a.txt", "line 1", "words", "near", "", "old words", "alte Worte", "0.88"],
    ]


def test_a_stricter_review_shows_more(tmp_path: Path) -> None:
    outcomes = [outcome(str(value), value) for value in (0.6, 0.8, 0.7)]
    assert [row[5] for row in reviewed(tmp_path, *outcomes, below=0.8)] == ["0.6", "0.7"]


def test_a_row_is_one_line_whatever_the_text(tmp_path: Path) -> None:
    ((*_, text, _, _, _, _),) = reviewed(tmp_path, outcome("a\tb\nc\r\\n", 0.1))
    assert text == r"a\tb\nc\r\\n"
