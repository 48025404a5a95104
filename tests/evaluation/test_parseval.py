"""PARSEVAL counts as EVALB does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tongsa.evaluation.parseval import COLLINS, SentenceCounts, add_up, compare, read_parameters
from tongsa.formats.trees import parse_brackets

GOLD = "(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks) (ADVP (RB loudly))) (. .)))"

# The parameters with which EVALB's authors made bug.rsl-new: quotation marks that were tagged otherwise are put back.
QUOTES = "\n".join(
    [
        *(f"DELETE_LABEL {label}" for label in ("S1", "?", "!")),
        *(f"QUOTE_LABEL {label}" for label in ("''", "``", "POS", "NN", "CD", "VBZ", ":")),
    ]
)


def counted(gold: str, test: str) -> SentenceCounts:
    return compare(parse_brackets(gold), parse_brackets(test))


def test_the_right_tree_has_all_brackets_and_no_root_or_punctuation_among_them() -> None:
    assert counted(GOLD, GOLD) == SentenceCounts(length=5, matched=4, gold=4, test=4, words=4, right_tags=4)


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (GOLD.replace("(NP", "(XP"), {"matched": 3}),
        (GOLD.replace("ADVP", "PRT"), {"matched": 4}),
        (GOLD.replace("(NP", "(NP-SBJ"), {"matched": 4}),
        (GOLD.replace("(DT The)", "(NN The)"), {"right_tags": 3}),
        ("(TOP (S (DT The) (VP (NN dog) (VBZ barks)) (RB loudly) (. .)))", {"matched": 1, "test": 2, "crossing": 1}),
        # a chain of one label over the same words counts once for each time it is right
        (GOLD.replace("(NP (DT The) (NN dog))", "(NP (NP (DT The) (NN dog)))"), {"matched": 4, "test": 5}),
        ("(TOP (S (NP (DT A) (NN dog)) (VP (VBZ barks) (ADVP (RB loudly))) (. .)))", {"status": "error"}),
        ("(TOP (S (NP (DT The) (NN dog)) (. .)))", {"status": "error"}),
        ("", {"status": "skipped"}),
    ],
)
def test_differences_are_counted(test: str, expected: dict[str, object]) -> None:
    found = counted(GOLD, test)
    assert {name: getattr(found, name) for name in expected} == expected


def test_sums_leave_out_errors_and_long_sentences() -> None:
    rows = [counted(GOLD, GOLD), counted(GOLD, GOLD.replace("(NP", "(XP")), counted(GOLD, "")]
    total = add_up(rows)
    assert (total.sentences, total.valid, total.skipped, total.complete) == (3, 2, 1, 1)
    assert (total.recall, total.precision, total.f1) == pytest.approx((87.5, 87.5, 87.5))
    assert add_up(rows, longest=4).sentences == 0


@pytest.mark.parametrize(
    ("name", "parameters", "result"),
    [("sample", "sample.prm", "sample.rsl"), ("bug", "COLLINS.prm", "bug.rsl-new")],
)
def test_evalbs_own_samples_are_counted_as_evalb_counts_them(
    shared_data: Path, name: str, parameters: str, result: str
) -> None:
    folder = shared_data / "evalb"
    chosen = read_parameters((folder / parameters).read_text() + (QUOTES if name == "bug" else ""))
    gold = (folder / f"{name}.gld").read_text().rstrip("\n").split("\n")
    test = (folder / f"{name}.tst").read_text().split("\n")[: len(gold)]
    found = [compare(parse_brackets(a), parse_brackets(b), chosen) for a, b in zip(gold, test, strict=True)]
    row = re.compile(r"\s*(\d+)\s+(\d+)\s+([012])\s+[\d.]+\s+[\d.]+\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s")
    printed = [match.groups() for line in (folder / result).read_text().split("\n") if (match := row.match(f"{line} "))]
    assert len(printed) == len(found)
    status = {"valid": 0, "error": 1, "skipped": 2}
    for counts, (_, *numbers) in zip(found, printed, strict=True):
        length, stat, matched, right, wrong, crossing, words, tags = map(int, numbers)
        assert (counts.length, status[counts.status]) == (length, stat)
        if counts.status == "valid":
            assert (counts.matched, counts.gold, counts.test) == (matched, right, wrong)
            assert (counts.crossing, counts.words, counts.right_tags) == (crossing, words, tags)


def test_collins_is_the_parameter_file(shared_data: Path) -> None:
    assert read_parameters((shared_data / "evalb" / "COLLINS.prm").read_text()) == COLLINS
