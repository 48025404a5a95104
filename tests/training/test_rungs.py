"""How long the rungs of a search are, and how candidates are trained in them."""

from __future__ import annotations

import pytest

from tongsa.config.presets import load_recipe
from tongsa.config.schedules import Moment, learning_rate
from tongsa.training.rungs import cost, first_length, lengths, rung_recipe, same_tokens, takers


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


@pytest.mark.parametrize("name", ["tiny", "base"])
def test_a_rung_ends_with_a_learning_rate_of_0_whatever_the_schedule(name: str) -> None:
    recipe = rung_recipe(load_recipe(name, {}), 100)
    assert recipe.training.updates == 100
    rates = [
        learning_rate(recipe.training, Moment(update=update, fraction=update / 100, d_model=recipe.model.d_model))
        for update in (1, 50, 100)
    ]
    assert rates[0] < rates[1]
    assert rates[1] == pytest.approx(recipe.training.peak)
    assert rates[2] == pytest.approx(0)
