"""Recipes by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tongsa.base.errors import RecipeError
from tongsa.config import Recipe, TransformerSection
from tongsa.config.presets import PRESETS, load_recipe, recipe_names

TABLE_3 = [
    f"{row}{number}" for row, count in (("A", 4), ("B", 2), ("C", 7), ("D", 4)) for number in range(1, count + 1)
]


@pytest.mark.parametrize("name", recipe_names())
def test_every_named_recipe_can_be_used(name: str) -> None:
    load_recipe(name, {})


def test_every_row_of_table_3_is_there() -> None:
    assert {"base", "big", "tiny", "mini", "small", "E", *TABLE_3} <= set(PRESETS)
    assert load_recipe("base", {}) == Recipe()


@pytest.mark.parametrize("name", ["A1", "A2", "A3", "A4"])
def test_rows_a_keep_the_amount_of_computation(name: str) -> None:
    model = load_recipe(name, {}).model
    assert isinstance(model, TransformerSection)
    assert model.heads * model.key_width == model.heads * model.value_width == 512


def test_big_averages_20_checkpoints_of_its_last_hours() -> None:
    """§6.1: the last 20, written at 10-minute intervals; 20 of its whole training would not be the last ones."""
    training = load_recipe("big", {}).training
    assert (training.average, training.checkpoint_every) == (20, 600)
    assert training.average * training.checkpoint_every < 0.05 * training.updates


def test_settings_lie_over_presets() -> None:
    recipe = load_recipe("tiny", {"model.d_model": "64", "subwords.size": "500"})
    assert (recipe.model.d_model, recipe.subwords.size) == (64, 500)
    assert recipe.training == load_recipe("tiny", {}).training


def test_a_file_holds_what_differs_from_its_preset(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('preset = "tiny"\n[model]\ndropout = 0.5\n')
    recipe = load_recipe(str(path), {"training.updates": "7"})
    assert recipe == load_recipe("tiny", {"model.dropout": "0.5", "training.updates": "7"})


def test_a_file_that_a_recipe_wrote_is_that_recipe(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(load_recipe("big", {}).to_toml())
    assert load_recipe(str(path), {}) == load_recipe("big", {})


def test_an_unknown_recipe_lists_the_known_and_a_near_one() -> None:
    with pytest.raises(RecipeError, match=r"unknown recipe: smal: did you mean small\?") as caught:
        load_recipe("smal", {})
    assert all(name in str(caught.value) for name in ["auto", *PRESETS])


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('preset = "tinny"', "preset 'tinny', which is unknown"),
        ("preset = [1]", "which is unknown"),
        ("training = 5", r"write \[training\]"),
        ('training = "text"', r"write \[training\]"),
        ("[[training]]\nupdates = 5", r"write \[training\]"),
        ("[modle]\nheads = 4", "did you mean model"),
        ("[model]\nheds = 4", "did you mean heads"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(content)
    for settings in ({}, {"training.updates": "7"}):
        with pytest.raises(RecipeError, match=rf"mine\.toml (.*\n)*.*{told}"):
            load_recipe(str(path), settings)
