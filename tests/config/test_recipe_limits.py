"""Every number of a recipe has an upper limit: a recipe may come with a stranger's translator."""

from __future__ import annotations

import dataclasses
import typing

import pytest

from tongsa.base.errors import RecipeError, UsageError
from tongsa.config import CorpusSection, DecodingSection, Recipe, SubwordsSection, TrainingSection
from tongsa.config.architectures import ARCHITECTURES, section_class
from tongsa.decoding.search import Sampling, Search

SECTIONS = {
    "corpus": CorpusSection,
    "subwords": SubwordsSection,
    "training": TrainingSection,
    "decoding": DecodingSection,
    **{f"model {name}": section_class(name) for name in ARCHITECTURES},
}


@pytest.mark.parametrize("name", SECTIONS)
def test_no_number_may_be_absurdly_large(name: str) -> None:
    section, _, architecture = name.partition(" ")
    numbers = [key for key, kind in typing.get_type_hints(SECTIONS[name]).items() if kind in (int, float)]
    assert set(numbers) <= {field.name for field in dataclasses.fields(SECTIONS[name])}
    for key in numbers:
        values = {key: 10**13, **({"architecture": architecture} if architecture else {})}
        with pytest.raises(RecipeError, match=rf"{section}\.{key} is 1[\d.e+]*; it must be"):
            Recipe.from_values({section: values}, "a recipe")


@pytest.mark.parametrize("text", ["1" * 5000, "[" * 5000, "1e999", "nan"])
def test_odd_values_of_a_setting_are_one_short_error(text: str) -> None:
    with pytest.raises(RecipeError) as caught:
        Recipe().with_settings({"model.d_model": text})
    assert "model.d_model is" in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_search_is_bounded() -> None:
    for wrong in ({"beam": 10**6}, {"nbest": 10**6}, {"length_penalty": float("nan")}, {"length_penalty": 1e9}):
        with pytest.raises(UsageError, match="must be at most"):
            Search(**wrong)  # type: ignore[arg-type]
    for temperature in (float("nan"), float("inf"), 0.0):
        with pytest.raises(UsageError, match="temperature"):
            Sampling(temperature=temperature)
