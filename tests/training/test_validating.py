"""The time that validations take from a budget in minutes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tongsa.runs.directory import Run
from tongsa.runs.log import read_log
from tongsa.tasks.translation import TranslationObjective
from tongsa.training.checkpoint import checkpoints
from tongsa.training.validating import SHARE, ValidationTime

Train = Callable[..., Any]
POINTS = 20


def validations(budget: float, quick: float, rest: float, promising_from: float = 0.0) -> tuple[list[float], float]:
    """Go through a training: where the rest of a validation was computed, and the time of all before the end."""
    limit, spent, full = ValidationTime(budget), 0.0, []
    for point in range(1, POINTS):
        fraction = point / POINTS
        if not limit.affords_quick(spent, fraction, tokens=3000, speed=1000 / quick):
            continue
        limit.quick = quick
        spent += quick
        if fraction >= promising_from and limit.affords_rest(spent, fraction):
            limit.rest = rest
            spent += rest
            full.append(fraction)
    return full, spent


@pytest.mark.parametrize("budget", [60, 120, 600, 3600, 10**5])
def test_validations_take_at_most_their_share_of_any_budget(budget: float) -> None:
    _, spent = validations(budget, quick=0.5, rest=2.0)
    assert spent <= SHARE * budget


def test_a_long_training_validates_in_full_at_every_point() -> None:
    full, _ = validations(7200, quick=0.5, rest=2.0)
    assert len(full) == POINTS - 1


def test_dear_validations_make_longer_gaps() -> None:
    cheap, _ = validations(600, quick=0.1, rest=0.5)
    dear, _ = validations(600, quick=0.1, rest=4.0)
    assert len(cheap) > 3 * len(dear) > 0
    assert dear[1] - dear[0] > 4 * (cheap[1] - cheap[0])


def test_the_time_of_losses_that_promise_nothing_is_not_lost_for_translations() -> None:
    full, spent = validations(600, quick=0.1, rest=2.0, promising_from=0.5)
    assert full[0] == 0.5
    assert spent <= SHARE * 600


def test_the_end_is_validated_where_that_is_quick_and_a_slow_machine_leaves_it_out() -> None:
    spent = SHARE * 60
    assert ValidationTime(60).affords_quick(spent, 1.0, tokens=1000, speed=1000)
    assert not ValidationTime(60).affords_quick(spent, 0.9, tokens=1000, speed=1000)
    assert not ValidationTime(60).affords_quick(0.0, 1.0, tokens=15_000, speed=170)


def test_a_model_that_knows_nothing_yet_is_not_translated_with(
    train_here: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tongsa.tasks.translation.PROMISING", 0.0)
    changes = {"training.updates": "4", "training.validate_every": "0", "training.average": "3"}
    assert train_here(tmp_path / "run", changes, minutes=60) is not None
    run = Run(tmp_path / "run")
    found = [event for event in read_log(run.log_file) if event["event"] == "validation"]
    assert [event["update"] for event in found] == [1, 2, 3, 4]
    assert all("log_loss" in event and "bleu" not in event for event in found)
    assert "bleu" in run.read_card().scores, "the finished translator is scored as ever"
    assert len(checkpoints(run.checkpoints)) == 3, "checkpoints do not wait for validations"


@pytest.mark.parametrize("relied_on", ["validate_every=2", "patience=50"])
def test_scores_that_something_relies_on_are_always_computed(
    train_here: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, relied_on: str
) -> None:
    monkeypatch.setattr("tongsa.tasks.translation.PROMISING", 0.0)
    key, _, value = relied_on.partition("=")
    changes = {"training.updates": "4", "training.validate_every": "0", f"training.{key}": value}
    assert train_here(tmp_path / "run", changes, minutes=60) is not None
    found = [event for event in read_log(Run(tmp_path / "run").log_file) if event["event"] == "validation"]
    assert found
    assert all("bleu" in event for event in found)


def test_a_training_that_selects_its_best_checkpoints_has_a_share_of_its_own_for_validations(
    train_here: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An untrained model that writes slowly would otherwise spend its minutes in validations."""
    monkeypatch.setattr("tongsa.training.loop.SHARE_TO_SELECT", 0.0)
    changes = {"training.updates": "4", "training.validate_every": "0", "training.average_of": "best"}
    assert train_here(tmp_path / "run", changes, minutes=60) is not None
    run = Run(tmp_path / "run")
    found = run.events("validation")
    assert len(found) <= 1, "only the end is validated, where that takes less than a second"
    assert not any("bleu" in event for event in found)
    assert "bleu" in run.read_card().scores


def test_quick_and_slow_scores_are_those_of_a_validation() -> None:
    """So a budget in minutes logs the numbers that one in updates does."""
    subject = object.__new__(TranslationObjective)
    subject.quick_scores = lambda model, workers: {"log_loss": 1}  # type: ignore[method-assign, assignment, return-value, dict-item]
    subject.slow_scores = lambda model, workers: {"bleu": 2}  # type: ignore[method-assign, assignment, return-value, dict-item]
    assert subject.validate(None, None) == {"log_loss": 1, "bleu": 2}  # type: ignore[arg-type]
