"""Architectures by name."""

from __future__ import annotations

from tongsa.config import ARCHITECTURES, Recipe
from tongsa.models import MODELS, build
from tongsa.models.contracts import Seq2Seq


def test_every_architecture_of_a_recipe_can_be_built() -> None:
    assert set(ARCHITECTURES.values()) == set(MODELS)


def test_build_gives_the_model_that_the_section_describes() -> None:
    recipe = Recipe().with_settings({"model.d_model": "16", "model.heads": "2", "model.decoder_layers": "1"})
    model = build(recipe.model, 10, None)
    assert isinstance(model, Seq2Seq)
    assert tuple(model.projection().shape) == (10, 16)
