"""Options of an experiment are read from text, and all that is wrong with them is told together."""

from __future__ import annotations

import pytest

from tongsa.base.errors import UsageError
from tongsa.lab import EXPERIMENTS
from tongsa.lab.compare.plan import CompareOptions
from tongsa.lab.experiment import read_options

GIVEN = {"models": "lstm, transformer", "corpora": "train", "source": "en", "target": "de"}


def test_values_have_the_types_of_their_fields() -> None:
    found = read_options(
        CompareOptions, {**GIVEN, "minutes": "1.5", "match_parameters": "yes", "seed": "7", "training.average": "3"}
    )
    assert found == CompareOptions(
        models=("lstm", "transformer"),
        corpora=("train",),
        source="en",
        target="de",
        minutes=1.5,
        match_parameters=True,
        seed=7,
        settings={"training.average": "3"},
    )


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(UsageError) as error:
        read_options(CompareOptions, {"models": "lstm", "seed": "one", "minuets": "3", "match_parameters": "2"})
    told = str(error.value)
    assert "unknown option: minuets" in told
    assert "seed must be a whole number, not 'one'" in told
    assert "match_parameters must be yes or no" in told
    assert "corpora is missing" in told


def test_an_unknown_experiment_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown experiment: compere\n +Known: compare"):
        EXPERIMENTS.find("compere")
