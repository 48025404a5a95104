"""The stress test: what perturbations do to scores and outputs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tongsa.evaluation.stress import Output, StressTest, as_table, mean_changes
from tongsa.text.perturbations import PERTURBATIONS

PAIRS = [
    (f"The {animal} sleeps in the {place} today.", f"Heute schläft das Tier {animal} dort im Haus {place}.")
    for animal in ("dog", "horse", "rabbit")
    for place in ("garden", "kitchen", "forest")
]
KNOWN = dict(PAIRS)
TEST = StressTest(PAIRS, "en", "de", ["bleu", "chrf"])


def careless(sources: Sequence[str]) -> list[Output]:
    """Knows sentences letter by letter; copies what it does not know."""
    return [Output(KNOWN.get(source, source)) for source in sources]


def robust(sources: Sequence[str]) -> list[Output]:
    """Minds neither case nor white space."""
    plain = {source.lower(): target for source, target in PAIRS}
    return [Output(plain.get(" ".join(source.lower().split()), source)) for source in sources]


def test_a_translator_that_minds_everything_loses_everywhere_and_copies() -> None:
    rows = {row.name: row for row in TEST.run(careless)}
    assert list(rows) == ["unchanged", *PERTURBATIONS]
    assert rows["unchanged"].scores["bleu"] == pytest.approx(100)
    assert rows["unchanged"].breakages == 0
    for name in ("lower", "typos", "spaces", "several"):
        assert rows[name].changes["bleu"] < -50
        assert rows[name].broken["copy"] == rows[name].sentences


def test_what_a_translator_does_not_mind_changes_nothing() -> None:
    rows = {row.name: row for row in TEST.run(robust)}
    for name in ("lower", "upper", "spaces", "blanks"):
        assert rows[name].changes == pytest.approx({"bleu": 0, "chrf": 0})
        assert rows[name].breakages == 0
    assert rows["typos"].changes["chrf"] < 0
    assert mean_changes(list(rows.values()))["bleu"] > mean_changes(TEST.run(careless))["bleu"]


def test_single_words_have_no_reference_but_can_break() -> None:
    row = next(row for row in TEST.run(careless) if row.name == "word")
    assert row.scores == row.changes == {}
    assert row.sentences == len(PAIRS)


def test_what_the_translator_noted_counts_as_broken() -> None:
    rows = TEST.run(lambda sources: [Output("Heute schläft das Tier.", ("repetition cut",)) for _ in sources])
    assert rows[0].broken["loop"] == len(PAIRS)


def test_the_table_has_a_line_for_each_perturbation() -> None:
    lines = as_table(TEST.run(careless))
    assert len(lines) == 2 + len(PERTURBATIONS)
    assert "BLEU" in lines[0]
    assert "copy" in lines[0]
    assert lines[-1].startswith("single word")
