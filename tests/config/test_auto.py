"""The recipe that is chosen from text, time and machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.config import TransformerSection
from tongsa.config.auto import Situation, choose_recipe, operations_per_token
from tongsa.config.presets import PRESETS
from tongsa.config.sections import SAMPLED
from tongsa.models.transformer import Transformer

SLOW, FAST = 2e10, 2e12
"""Operations per second of an old core, and of a large server."""

amounts = st.integers(20, 10**8)
lengths = st.integers(1, 400)
budgets = st.none() | st.floats(0.1, 10_000)
speeds = st.floats(SLOW, FAST)


def width(situation: Situation) -> int:
    return choose_recipe(situation, {}).recipe.model.d_model


@given(pairs=amounts, length=lengths, gpu=st.booleans(), minutes=budgets, speed=speeds)
def test_there_is_a_recipe_for_any_amount_of_text_and_time(
    pairs: int, length: int, gpu: bool, minutes: float | None, speed: float
) -> None:
    situation = Situation(pairs=pairs, characters=pairs * length, gpu=gpu, minutes=minutes, speed=speed)
    choice = choose_recipe(situation, {})
    assert 300 <= choice.recipe.subwords.size <= 37_000
    assert 0 <= choice.recipe.model.dropout <= 0.3
    assert choice.recipe.training.warmup < choice.recipe.training.updates
    assert f"{pairs:,} pairs" in choice.reasons[0]


@given(fewer=amounts, more=amounts, gpu=st.booleans())
def test_more_text_never_gets_a_smaller_model_or_vocabulary_if_time_does_not_matter(
    fewer: int, more: int, gpu: bool
) -> None:
    fewer, more = sorted((fewer, more))
    little, much = (
        choose_recipe(Situation(pairs=pairs, characters=pairs * 100, gpu=gpu), {}).recipe for pairs in (fewer, more)
    )
    assert little.model.d_model <= much.model.d_model
    assert little.subwords.size <= much.subwords.size
    assert little.model.dropout >= much.model.dropout


@given(pairs=amounts, shorter=st.floats(0.1, 10_000), longer=st.floats(0.1, 10_000), speed=speeds)
def test_more_time_never_gets_a_smaller_model_or_less_dropout(
    pairs: int, shorter: float, longer: float, speed: float
) -> None:
    shorter, longer = sorted((shorter, longer))
    given = [Situation(pairs=pairs, characters=pairs * 100, minutes=m, speed=speed) for m in (shorter, longer)]
    short, long = (choose_recipe(each, {}).recipe for each in given)
    assert short.model.d_model <= long.model.d_model
    assert short.training.batch_tokens <= long.training.batch_tokens
    if short.model.d_model == long.model.d_model:
        assert short.model.dropout <= long.model.dropout


def test_a_slow_machine_gets_a_model_that_it_can_train_in_the_time() -> None:
    """216,436 pairs in 15 minutes at 1,500 tokens/s of the model `small`: a third of an epoch, and nothing learnt."""
    slow = 1500 * operations_per_token("small", 8000)
    text = Situation(pairs=216_436, characters=31_000_000, minutes=15, speed=slow)
    assert width(text) == 128
    assert width(Situation(pairs=216_436, characters=31_000_000, minutes=24 * 60, speed=FAST)) == 256


def test_little_text_is_not_seen_without_end() -> None:
    choice = choose_recipe(Situation(pairs=2000, characters=100_000, minutes=600, speed=FAST), {})
    epochs = choice.recipe.training.updates * choice.recipe.training.batch_tokens / (100_000 / 2 / 3.5)
    assert 50 < epochs < 1000


@pytest.mark.parametrize(("pairs", "minutes", "decay"), [(85_878, 15, 0.0), (29_000, 60, 0.22), (2000, 60, 2.0)])
def test_only_text_that_is_seen_often_gets_weight_decay(pairs: int, minutes: float, decay: float) -> None:
    """29,000 pairs: 252 updates of 2,304 tokens in an epoch, and 1 / (0.006 * 3 * 252) is 0.22."""
    text = Situation(pairs=pairs, characters=pairs * 140, minutes=minutes, speed=1.3e11)
    choice = choose_recipe(text, {})
    assert choice.recipe.training.weight_decay == decay
    assert (f"weight decay {decay:g}" in choice.reasons[2]) is (decay > 0)


def test_settings_win_over_what_auto_chooses_and_the_reasons_say_so() -> None:
    settings = {"subwords.size": "777", "model.dropout": "0.4"}
    choice = choose_recipe(Situation(pairs=5000, characters=500_000), settings)
    assert (choice.recipe.subwords.size, choice.recipe.model.dropout) == (777, 0.4)
    assert "777" in choice.reasons[1]
    assert "0.4" in choice.reasons[2]


@pytest.mark.parametrize("settings", [{"training.optimizer": "adam"}, {"model.architecture": "lstm"}])
def test_other_optimizers_and_architectures_keep_the_learning_rate_of_the_preset(settings: dict[str, str]) -> None:
    text = Situation(pairs=5000, characters=500_000)
    training = choose_recipe(text, settings).recipe.training
    preset = PRESETS["tiny"]["training"]
    assert (training.optimizer, training.peak, training.schedule) == ("adam", preset["peak"], preset["schedule"])
    assert training.weight_decay == 0
    chosen = choose_recipe(text, {}).recipe.training
    assert (chosen.optimizer, chosen.schedule) == ("muon", "trapezoid")


@pytest.mark.parametrize("minutes", [15, 24 * 60])
def test_the_operations_of_a_token_are_six_for_each_weight_that_it_meets(minutes: float) -> None:
    """Forward and backward pass; of the output table, only the rows of a sampled softmax are met. Biases, norms and the
    rows that are only looked up do not count."""
    recipe = choose_recipe(Situation(pairs=10**6, characters=10**8, minutes=minutes, speed=FAST / 20), {}).recipe
    assert isinstance(recipe.model, TransformerSection)
    model = Transformer(recipe.model, 8001)
    matrices = sum(each.numel() for each in model.parameters() if each.ndim == 2)
    name = {128: "tiny", 192: "mini", 256: "small"}[recipe.model.d_model]
    table = 8001 * recipe.model.d_model
    assert operations_per_token(name, 8001) == 6 * (matrices - table + SAMPLED * table)


def test_the_softmax_is_sampled_unless_told_otherwise() -> None:
    text = Situation(pairs=5000, characters=500_000)
    assert choose_recipe(text, {}).recipe.training.softmax == "sampled"
    assert choose_recipe(text, {"training.softmax": "full"}).recipe.training.softmax == "full"


CAPTIONS = Situation(pairs=29_000, characters=3_800_000, minutes=30, speed=2e11, can_diversify=True)
"""Multi30k on two fast cores."""


def test_little_text_and_much_time_are_translated_by_their_own_translators() -> None:
    choice = choose_recipe(CAPTIONS, {})
    assert choice.recipe.training.diversify
    assert any("two translators" in reason for reason in choice.reasons)
    plain = choose_recipe(CAPTIONS, {"training.diversify": "false"}).recipe
    assert not plain.training.diversify
    assert (choice.recipe.subwords, choice.recipe.model.d_model) == (plain.subwords, plain.model.d_model)
    assert choice.recipe.model.dropout < plain.model.dropout  # each pair is seen less often
    assert choice.recipe.training.updates > plain.training.updates


@pytest.mark.parametrize(
    "changes",
    [
        {"minutes": 3},
        {"minutes": None},
        {"pairs": 216_000, "characters": 31_000_000},
        {"pairs": 2000, "characters": 100_000},
        {"speed": 1e10},
        {"gpu": True},
        {"can_diversify": False},
    ],
)
def test_otherwise_they_are_not(changes: dict[str, Any]) -> None:
    assert not choose_recipe(replace(CAPTIONS, **changes), {}).recipe.training.diversify


def test_they_are_if_a_setting_says_so() -> None:
    short = replace(CAPTIONS, minutes=3)
    assert choose_recipe(short, {"training.diversify": "true"}).recipe.training.diversify
