"""Interventions agree with the library: they give what a model with such weights would give."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import cast

import pytest
import torch

from tongsa.base.errors import UsageError
from tongsa.lab.interventions import PLACES, Head, Intervention, Place, attentions, effect, intervene
from tongsa.models.transformer import Transformer
from tongsa.translation.translator import Translator

SOURCE, TARGET = torch.tensor([[5, 9, 7, 12, 0]]), torch.tensor([[40, 8, 3]])


@pytest.fixture(scope="module")
def translator(trained_translator: Path) -> Translator:
    return Translator.load(trained_translator, engine="native", threads=1)


@pytest.fixture(scope="module")
def model(translator: Translator) -> Transformer:
    assert isinstance(translator.native.model, Transformer)
    return translator.native.model


def _logits(model: Transformer) -> torch.Tensor:
    with torch.no_grad():
        return cast(torch.Tensor, model(SOURCE, torch.ones_like(SOURCE, dtype=torch.bool), TARGET))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", [0, 3])
def test_a_head_switched_off_is_a_head_whose_rows_of_w_o_are_zero(
    model: Transformer, place: Place, number: int
) -> None:
    before = _logits(model)
    zeroed = copy.deepcopy(model)
    output = attentions(zeroed)[place][0].w_o
    width = output.in_features // model.config.heads
    with torch.no_grad():
        output.weight[:, number * width : (number + 1) * width] = 0
    switched = _logits(intervene(model, Intervention(heads_off=(Head(place, 0, number),))))
    torch.testing.assert_close(switched, _logits(zeroed), atol=1e-5, rtol=0)
    assert not torch.allclose(switched, before, atol=1e-3)
    torch.testing.assert_close(_logits(model), before, atol=0, rtol=0)


def test_without_the_scale_queries_are_longer_by_its_root(model: Transformer) -> None:
    longer = copy.deepcopy(model)
    with torch.no_grad():
        for layers in attentions(longer).values():
            for layer in layers:
                layer.w_q.weight.mul_(model.config.key_width**0.5)
                layer.w_q.bias.mul_(model.config.key_width**0.5)
    torch.testing.assert_close(_logits(intervene(model, Intervention(scale=False))), _logits(longer), atol=1e-4, rtol=0)


def test_without_positions_the_order_of_the_source_does_not_matter(model: Transformer) -> None:
    deaf = intervene(model, Intervention(positions="none"))
    with torch.no_grad():
        mask = torch.ones_like(SOURCE, dtype=torch.bool)
        there, back = deaf(SOURCE, mask, TARGET), deaf(SOURCE.flip(1), mask, TARGET)
    torch.testing.assert_close(there, back, atol=1e-4, rtol=0)


def test_shuffled_positions_are_the_same_step_by_step_and_at_once(model: Transformer) -> None:
    shuffled = intervene(model, Intervention(positions="shuffled"))
    table = shuffled.target_positions(0, 20)
    steps = torch.cat([shuffled.target_positions(place, 1) for place in range(20)])
    torch.testing.assert_close(table, steps)
    assert not torch.allclose(table, model.target_positions(0, 20))
    assert sorted(table[:8].sum(dim=1).tolist()) == pytest.approx(
        sorted(model.target_positions(0, 8).sum(dim=1).tolist())
    )


def test_a_decoder_cut_off_from_the_source_writes_the_same_for_all(translator: Translator) -> None:
    cut = Intervention(cross=False)
    found = {effect(translator, text, cut).after for text in ("나는 책을 읽는다.", "고양이가 자요.")}
    assert len(found) == 1


def test_the_effect_names_translations_probabilities_and_heads(translator: Translator) -> None:
    head = Head("cross", 0, 1)
    found = effect(translator, "나는 책을 읽는다.", Intervention(heads_off=(head,)))
    assert found.before == translator.translate(["나는 책을 읽는다."])[0].text
    assert found.log_probability[0] > found.log_probability[1]
    assert found.changed[Head("encoder", 0, 0)] == 0.0, "the encoder comes before what was switched off"
    nothing = effect(translator, "나는 책을 읽는다.", Intervention())
    assert nothing.before == nothing.after
    assert set(nothing.changed.values()) == {0.0}


def test_a_head_that_is_not_there_is_refused(model: Transformer) -> None:
    with pytest.raises(UsageError, match="no head 9 in layer 1 of cross"):
        intervene(model, Intervention(heads_off=(Head("cross", 0, 8),)))
