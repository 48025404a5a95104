"""The recipes that a search tries."""

from __future__ import annotations

import math

import pytest

from tongsa.base.errors import UsageError
from tongsa.config import Recipe
from tongsa.config.presets import load_recipe
from tongsa.training.candidates import SPACE, changed, draw_candidates, peak

ALL_KEYS = [key for dimension in SPACE for key in dimension.keys]


def drawn(recipe: Recipe, count: int = 12, seed: int = 1, fixed: tuple[str, ...] = ()) -> list[dict[str, str]]:
    return draw_candidates(recipe, count, seed=seed, fixed=fixed)


def test_the_first_candidate_is_the_recipe_unchanged_and_all_differ() -> None:
    found = drawn(load_recipe("tiny", {}), 40)
    assert found[0] == {}
    assert all(found[1:])
    assert len({tuple(sorted(each.items())) for each in found}) == 40


def test_candidates_depend_on_the_seed_alone_and_more_of_them_add_to_the_first_ones() -> None:
    recipe = load_recipe("tiny", {})
    assert drawn(recipe, 16)[:8] == drawn(recipe, 8)
    assert drawn(recipe, seed=2) != drawn(recipe)


@pytest.mark.parametrize("name", ["tiny", "small", "base", "big", "A1", "C5", "gru-attention", "convs2s"])
def test_every_candidate_is_a_recipe_with_its_architecture_unchanged(name: str) -> None:
    recipe = load_recipe(name, {})
    for settings in drawn(recipe, 30):
        found = recipe.with_settings(settings)
        assert found.model.architecture == recipe.model.architecture
        assert found.model.dropout <= 0.5


@pytest.mark.parametrize("dimension", SPACE, ids=lambda dimension: dimension.name)
def test_a_key_that_is_set_is_not_searched(dimension: object) -> None:
    keys = next(each.keys for each in SPACE if each is dimension)
    recipe = load_recipe("tiny", {})
    assert any(keys[0] in settings for settings in drawn(recipe, 60))
    assert not any(keys[0] in settings for settings in drawn(recipe, 60, fixed=keys[:1]))


def test_label_smoothing_is_never_lowered() -> None:
    """The loss, by which candidates are compared, would prefer none at all."""
    recipe = load_recipe("tiny", {})
    key = "training.label_smoothing"
    smoothed = [float(each[key]) for each in drawn(recipe, 60) if key in each]
    assert smoothed
    assert min(smoothed) >= recipe.training.label_smoothing


def test_heads_keep_whole_widths_when_the_model_becomes_wider() -> None:
    width = next(each for each in SPACE if each.name == "width")
    recipe = load_recipe("tiny", {"model.d_model": "40", "model.heads": "5"})
    assert dict(changed(recipe, width, 1.5)) == {"model.d_model": "80", "model.d_ff": "384"}
    assert dict(changed(recipe, width, 0.75)) == {"model.d_ff": "192"}, "40 is the narrowest for five heads"


def test_a_schedule_without_a_peak_is_searched_around_that_of_equation_3() -> None:
    recipe = load_recipe("base", {})
    assert recipe.training.peak == 0
    assert math.isclose(peak(recipe), (512 * 4000) ** -0.5, rel_tol=0.01)
    rate = next(each for each in SPACE if each.name == "learning rate")
    assert math.isclose(float(dict(changed(recipe, rate, 2.0))["training.peak"]), 2 * peak(recipe), rel_tol=0.01)


def test_vocabularies_that_the_text_does_not_allow_are_not_drawn_again() -> None:
    recipe = load_recipe("tiny", {})
    found = draw_candidates(recipe, 40, seed=1, fixed=(), unusable={"16000"})
    assert {each.get("subwords.size") for each in found} == {None, "4000"}


@pytest.mark.parametrize("fixed", [ALL_KEYS, [key for key in ALL_KEYS if key != "training.warmup"]])
def test_more_candidates_than_there_are_recipes_are_refused(fixed: list[str]) -> None:
    with pytest.raises(UsageError, match=r"there are only [13] recipes to try, not 8"):
        drawn(load_recipe("tiny", {}), 8, fixed=tuple(fixed))
