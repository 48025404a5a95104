"""Architectures by name: ours, and those of other packages."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest
import torch

from tongsa.base.errors import RecipeError, TongsaError
from tongsa.base.registry import Registry
from tongsa.config import ModelSection, Recipe, architecture_names
from tongsa.config import architectures as registry
from tongsa.config.architectures import ARCHITECTURES, model_class, section_class
from tongsa.models import architectures_of, build, build_a
from tongsa.models.contracts import Decoder, Encoder, Seq2Seq
from tongsa.models.recurrent import Recurrent


class NotAnArchitecture:
    pass


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_name_leads_to_a_model_whose_section_takes_that_name(name: str) -> None:
    section = section_class(name)
    assert issubclass(section, ModelSection)
    assert model_class(name).section is section
    assert issubclass(model_class(name), torch.nn.Module)
    assert Recipe.from_values({"model": {"architecture": name}}, "a test").model == section(architecture=name)


def test_build_gives_the_model_that_the_section_describes() -> None:
    recipe = Recipe().with_settings({"model.d_model": "16", "model.heads": "2", "model.decoder_layers": "1"})
    model = build(recipe.model, 10, None)
    assert isinstance(model, Seq2Seq)
    assert tuple(model.projection().shape) == (10, 16)


def test_an_architecture_of_another_kind_is_refused_with_those_that_fit() -> None:
    with pytest.raises(RecipeError, match="decoder-only cannot be used here: it is not of the kind Seq2Seq") as caught:
        build(section_class("decoder-only")(), 10, None)
    assert "transformer" in str(caught.value)
    with pytest.raises(RecipeError, match="it is not of the kind Encoder"):
        build_a(Encoder, Recipe().model, 10)


def test_what_translates_also_decodes_and_what_encodes_does_not() -> None:
    assert set(architectures_of(Seq2Seq)) < set(architectures_of(Decoder))
    assert "encoder-only" not in architectures_of(Decoder)


def with_entry_point(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """As if a package with this entry point were installed."""
    point = EntryPoint(name=name, value=value, group="tongsa.architectures")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point] if group == point.group else [])
    monkeypatch.setattr(registry, "_REGISTRY", Registry("tongsa.architectures", ARCHITECTURES, kind="architecture"))


def test_an_entry_point_adds_an_architecture(monkeypatch: pytest.MonkeyPatch) -> None:
    with_entry_point(monkeypatch, "theirs", "tongsa.models.recurrent:Recurrent")
    assert "theirs" in architecture_names()
    assert model_class("theirs") is Recurrent
    assert section_class("theirs") is Recurrent.section


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("no_such_package:Model", "No module named 'no_such_package'"),
        ("tongsa.models.recurrent:Missing", "has no attribute 'Missing'"),
        ("models.test_architectures:NotAnArchitecture", "must be the class of a model with an attribute `section`"),
        ("torch.nn:Linear", "must be the class of a model with an attribute `section`"),
    ],
)
def test_a_broken_entry_point_is_named_in_the_error(monkeypatch: pytest.MonkeyPatch, value: str, told: str) -> None:
    with_entry_point(monkeypatch, "theirs", value)
    with pytest.raises(TongsaError, match="the architecture theirs of ") as caught:
        Recipe.from_values({"model": {"architecture": "theirs"}}, "a test")
    assert told in str(caught.value)


def test_a_broken_entry_point_harms_no_other_architecture(monkeypatch: pytest.MonkeyPatch) -> None:
    with_entry_point(monkeypatch, "theirs", "no_such_package:Model")
    assert Recipe.from_values({"model": {"architecture": "lstm"}}, "a test").model.architecture == "lstm"


def test_an_entry_point_cannot_take_the_name_of_one_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    with_entry_point(monkeypatch, "lstm", "tongsa.models.convs2s:ConvS2S")
    with pytest.raises(TongsaError, match="architecture named lstm"):
        architecture_names()
    assert model_class("lstm") is Recurrent
