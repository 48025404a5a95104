"""The recipes of the convolutional systems: trained, resumed, reported and translated with by what serves them all."""

from __future__ import annotations

from pathlib import Path

import pytest

import tongsa
from tongsa.base.errors import RecipeError
from tongsa.runs.directory import Run

SETTINGS = {
    "subwords.size": "900",
    "model.d_model": "16",
    "training.updates": "3",
    "training.batch_tokens": "400",
    "training.processes": "1",
    "training.validate_every": "3",
    "training.validation_pairs": "3",
    "training.average": "1",
    "decoding.max_extra": "5",
}

RECIPES = {
    "convs2s": {"model.hidden": "12"},
    "bytenet": {"subwords.kind": "char"},
    "extended-neural-gpu": {"subwords.joint": "false"},
}


def train(corpus: Path, out: Path, recipe: str, changes: dict[str, str]) -> None:
    options = {"settings": changes, "recipe": recipe, "threads": 1, "device": "cpu"}
    assert tongsa.train(corpus, source="ko", target="en", out=out, **options) is not None


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_trains_goes_on_and_translates(recipe: str, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / recipe
    train(corpus, out, recipe, {**SETTINGS, **RECIPES[recipe]})
    translator = tongsa.resume(out, settings={"training.updates": "5"})
    card = Run(out).read_card()
    assert card.recipe.model.architecture == recipe
    assert card.training.updates == 5
    assert translator.engine.name == "native"
    (found,) = translator.translate(["고양이가 물을 마신다."])
    assert found.score < 0
    report = (out / "report.html").read_text(encoding="utf-8")
    assert f"architecture {recipe}" in report
    assert ("Encoder–decoder attention" in report) == (recipe == "convs2s")


def test_learned_positions_of_convs2s_must_reach_as_far_as_the_corpus(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"model\.max_positions 256 must be above corpus\.max_tokens 256"):
        train(corpus, tmp_path / "out", "convs2s", {**SETTINGS, "model.max_positions": "256"})
