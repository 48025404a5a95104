"""How long the rungs of a search are, and how candidates are trained in them."""

from __future__ import annotations

import dataclasses

import pytest

from tongsa.config.presets import load_recipe
from tongsa.config.schedules import Moment, learning_rate
from tongsa.runs.tune import Candidate, TuneRecord
from tongsa.training.rungs import cost, first_length, fitted, lengths, rung_recipe, same_tokens, takers


def test_the_better_half_goes_on_until_one_is_left() -> None:
    assert takers(8) == [8, 4, 2]
    assert takers(5) == [5, 3, 2]
    assert takers(2) == [2]


@pytest.mark.parametrize("count", [2, 3, 5, 8, 13, 64])
def test_the_rungs_together_take_half_of_the_budget(count: int) -> None:
    found = lengths(first_length(count, 1000.0), count)
    before = (0.0, *found)
    spent = sum(taking * (found[rung] - before[rung]) for rung, taking in enumerate(takers(count)))
    assert spent == pytest.approx(500)
    assert cost(count) * found[0] == pytest.approx(500)


def test_every_rung_is_twice_as_long_as_the_one_before() -> None:
    assert lengths(10, 8) == (10, 20, 40)


def test_candidates_with_other_batches_see_as_many_tokens() -> None:
    before = load_recipe("tiny", {})
    larger = before.with_settings({"training.batch_tokens": str(2 * before.training.batch_tokens)})
    assert same_tokens(100, before, larger) == 50
    assert same_tokens(100, larger, before) == 200


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [("tiny", "cosine", "cosine"), ("tiny", "trapezoid", "trapezoid"), ("base", "noam", "cosine")],
)
def test_a_rung_ends_with_a_learning_rate_of_0_whatever_the_schedule(name: str, given: str, expected: str) -> None:
    recipe = rung_recipe(load_recipe(name, {"training.schedule": given}), 100)
    assert recipe.training.schedule == expected
    assert recipe.training.updates == 100
    rates = [
        learning_rate(recipe.training, Moment(update=update, fraction=update / 100, d_model=recipe.model.d_model))
        for update in (1, 50, 100)
    ]
    assert rates[0] < rates[1]
    assert rates[1] == pytest.approx(recipe.training.peak)
    assert rates[2] == pytest.approx(0)


def by_minutes(overhead: float, used: float) -> TuneRecord:
    """A search of four candidates in ten minutes, after its first rung of fifty seconds each."""
    return TuneRecord(
        began={},
        count=4,
        minutes=10.0,
        values={},
        lengths=lengths(50.0, 4),
        candidates=tuple(Candidate(number=number, settings={}, losses=(1.0,)) for number in range(1, 5)),
        used=used,
        overhead=overhead,
    )


def test_rungs_are_shortened_by_what_starting_and_judging_takes() -> None:
    on_time, late, far_too_late = by_minutes(0.0, 200.0), by_minutes(20.0, 220.0), by_minutes(800.0, 1000.0)
    assert fitted(on_time, 1) == (50.0, 100.0)
    assert fitted(late, 1) == pytest.approx((50.0, 85.0)), "80 s are left for two candidates, 10 s of them for judging"
    assert fitted(far_too_late, 1) == pytest.approx((50.0, 55.0))


def test_a_machine_that_was_unevenly_busy_is_noticed() -> None:
    def record(updates: int, **changes: object) -> TuneRecord:
        fast = Candidate(number=1, settings={}, parameters=9, updates=(18,), seconds=(10.0,), losses=(1.0,))
        slow = dataclasses.replace(fast, number=2, updates=(updates,))
        return dataclasses.replace(by_minutes(0.0, 0.0), candidates=(fast, slow), **changes)  # type: ignore[arg-type]

    found = record(4).uneven()
    assert found
    assert [each.number for each in found] == [1, 2]
    assert record(15).uneven() is None
    assert record(4, minutes=None).uneven() is None
