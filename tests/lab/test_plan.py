"""Which models are meant, and what is laid over their recipes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tongsa.base.errors import RecipeError, UsageError
from tongsa.config import CorpusSection, DecodingSection, Recipe, SubwordsSection
from tongsa.lab.compare.plan import ENDLESS, CompareOptions, own_recipe, shared_recipe
from tongsa.models import Seq2Seq, architectures_of

SHARED = Recipe(
    corpus=CorpusSection(max_tokens=77), subwords=SubwordsSection(size=1234), decoding=DecodingSection(beam=3)
)


def options(models: str = "lstm", **others: Any) -> CompareOptions:
    names = tuple(models.split(","))
    return CompareOptions(models=names, corpora=("train",), source="ko", target="en", **{"updates": 5, **others})


def test_an_unknown_metric_is_refused_before_anything_is_read() -> None:
    with pytest.raises(UsageError, match="unknown metric: blue"):
        options(metrics=("bleu", "blue")).check()


def test_names_are_read_with_commas_and_files_are_called_by_their_stem() -> None:
    assert options("lstm, runs/my.toml,").recipes() == {"lstm": "lstm", "my": "runs/my.toml"}


@pytest.mark.parametrize("models", ["", " , ", "lstm,lstm", "a/x.toml,b/x.toml"])
def test_no_model_and_the_same_twice_are_refused(models: str) -> None:
    with pytest.raises(UsageError):
        options(models).check()


def test_an_unknown_model_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(RecipeError, match="did you mean transformer"):
        own_recipe("transfomer")


@pytest.mark.parametrize("name", architectures_of(Seq2Seq))
def test_every_architecture_has_a_recipe_of_itself(name: str) -> None:
    assert own_recipe(name).model.architecture == name


@pytest.mark.parametrize("name", architectures_of(Seq2Seq))
def test_what_must_be_equal_is_and_the_rest_is_the_models_own(name: str) -> None:
    own = own_recipe(name)
    level = shared_recipe(name, SHARED, options(minutes=3, updates=None))
    assert (level.corpus, level.subwords, level.decoding) == (SHARED.corpus, SHARED.subwords, SHARED.decoding)
    assert level.training.updates == ENDLESS
    assert level.model == own.model
    assert level.training.peak == own.training.peak


def test_settings_are_laid_over_every_recipe() -> None:
    level = shared_recipe("tiny", SHARED, options(settings={"training.peak": "0.5", "model.d_model": "64"}, updates=9))
    assert (level.training.peak, level.model.d_model, level.training.updates) == (0.5, 64, 9)


def test_a_setting_that_a_model_does_not_know_is_refused_by_its_name() -> None:
    with pytest.raises(RecipeError, match=r"recipe gru(.|\n)*model.heads"):
        shared_recipe("gru", SHARED, options(settings={"model.heads": "2"}))


def test_a_file_of_ones_own_is_a_model(tmp_path: Path) -> None:
    path = tmp_path / "wide.toml"
    path.write_text('preset = "tiny"\n[model]\nd_model = 192\n', encoding="utf-8")
    assert own_recipe(str(path)).model.d_model == 192
