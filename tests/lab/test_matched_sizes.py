"""Parameters are counted without memory, and matched by width."""

from __future__ import annotations

import dataclasses

import pytest

from tongsa.config import TransformerSection
from tongsa.lab.compare.plan import own_recipe
from tongsa.lab.compare.sizes import Vocabulary, matched, parameters, scaled
from tongsa.models import Seq2Seq, architectures_of, build
from tongsa.models.recurrent import RecurrentSection

VOCABULARY = Vocabulary(3000, None)


@pytest.mark.parametrize("vocabulary", [Vocabulary(200, None), Vocabulary(200, 150)])
def test_the_count_is_that_of_the_real_model(vocabulary: Vocabulary) -> None:
    section = TransformerSection(d_model=16, d_ff=24, heads=2, encoder_layers=1, decoder_layers=2)
    model = build(section, vocabulary.source, vocabulary.target)
    assert parameters(section, vocabulary) == sum(parameter.numel() for parameter in model.parameters())


PARSER = "transformer-next-word"
"""Not among the systems that are compared: its steps of width are those of the Transformer."""


@pytest.mark.parametrize("name", [name for name in architectures_of(Seq2Seq) if name != PARSER])
def test_every_architecture_can_be_matched_within_a_few_percent(name: str) -> None:
    recipe = matched(own_recipe(name), 1_500_000, VOCABULARY)
    assert parameters(recipe.model, VOCABULARY) == pytest.approx(1_500_000, rel=0.025)
    assert recipe.model.problems() == []
    assert dataclasses.replace(recipe, model=own_recipe(name).model) == own_recipe(name)


def test_widths_grow_with_d_model_and_what_follows_it_by_itself_is_left_to() -> None:
    wide = scaled(TransformerSection(d_model=128, d_ff=512, heads=4), 64)
    assert isinstance(wide, TransformerSection)
    assert (wide.d_model, wide.d_ff, wide.heads) == (64, 256, 4)
    follows = scaled(RecurrentSection(d_model=128), 64)
    assert isinstance(follows, RecurrentSection)
    assert (follows.hidden, follows.units) == (0, 64)
