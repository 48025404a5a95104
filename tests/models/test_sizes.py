"""The paper's sizes: Table 3, row by row."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch

from tongsa.config import TransformerSection
from tongsa.config.presets import PRESETS, load_recipe
from tongsa.config.schedules import Moment, learning_rate
from tongsa.models.contracts import token_mask
from tongsa.models.loss import linear_cross_entropy
from tongsa.models.transformer import Transformer
from tongsa.training.optimizer import FlatOptimizer

JOINT = 37_000
"""Pieces of the vocabulary (§5.1)."""

MILLIONS = {
    "base": 65, "B1": 58, "B2": 60, "C1": 36, "C2": 50, "C3": 80, "C4": 28, "C5": 168, "C6": 53, "C7": 90, "big": 213,
}  # fmt: skip
"""Parameters as Table 3 prints them."""

TABLE_3 = [name for name in PRESETS if name not in ("tiny", "small")]


def section(name: str) -> TransformerSection:
    found = load_recipe(name, {}).model
    assert isinstance(found, TransformerSection)
    return found


def parameters(config: TransformerSection, source: int, target: int | None = None) -> int:
    """Counted without memory for them."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in Transformer(config, source, target).parameters())


@pytest.mark.parametrize(("name", "count"), [("base", 63_083_008), ("big", 214_246_400)])
def test_base_and_big_have_exactly_these_parameters(name: str, count: int) -> None:
    assert parameters(section(name), JOINT + 1) == count


@pytest.mark.parametrize("name", ["base", "big"])
def test_base_and_big_are_within_4_percent_of_the_paper(name: str) -> None:
    assert parameters(section(name), JOINT + 1) == pytest.approx(1e6 * MILLIONS[name], rel=0.04)


@pytest.mark.parametrize("name", MILLIONS)
def test_rows_of_table_3_have_the_size_it_prints(name: str) -> None:
    """Rounded to millions there, and the vocabulary was "about" 37,000, which weighs most in the shallow rows."""
    assert parameters(section(name), JOINT + 1) == pytest.approx(1e6 * MILLIONS[name], rel=0.07)


WMT14 = {"en-de-base": (65, 37_000), "en-de-big": (213, 37_000), "en-fr-base": (60, 32_000), "en-fr-big": (209, 32_000)}
"""Millions of parameters, and pieces of the vocabulary; Table 3 prints those of English-German, the others follow."""


@pytest.mark.parametrize("name", WMT14)
def test_recipes_of_the_paper_build_its_models_as_section_5_describes_them(name: str) -> None:
    recipe = load_recipe(f"paper/wmt14-{name}", {})
    millions, pieces = WMT14[name]
    assert isinstance(recipe.model, TransformerSection)
    assert recipe.subwords.size == pieces
    assert parameters(recipe.model, pieces + 1) == pytest.approx(1e6 * millions, rel=0.04)
    big, training = name.endswith("big"), recipe.training
    assert (training.updates, training.batch_tokens, training.warmup) == (300_000 if big else 100_000, 25_000, 4000)
    assert (training.average, training.average_of) == (20 if big else 5, "last")
    assert recipe.model.dropout == {"en-de-big": 0.3}.get(name, 0.1)
    minutes = training.checkpoint_every * (1.0 if big else 0.4) / 60
    assert minutes == pytest.approx(10), "§5.2: 0.4 and 1.0 seconds a step; §6.1: one checkpoint in 10 minutes"


def test_table_3_is_whole() -> None:
    rows = {"A": 4, "B": 2, "C": 7, "D": 4, "E": 1}
    assert {letter: sum(name[0] == letter for name in TABLE_3) for letter in rows} == rows


def eighth(config: TransformerSection) -> TransformerSection:
    """The same depth and heads, an eighth of the width: quick, and every shape still differs from row to row."""
    widths = {key: math.ceil(getattr(config, key) / 8) for key in ("d_model", "d_ff", "d_k", "d_v")}
    return dataclasses.replace(config, **widths)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_builds_in_full_and_trains_a_step(name: str) -> None:
    recipe = load_recipe(name, {})
    assert parameters(section(name), JOINT + 1) > 1e6
    torch.manual_seed(1)
    model = Transformer(eighth(section(name)), 12).train()
    adam = FlatOptimizer(model, recipe.training)
    source, target = torch.randint(2, 11, (8, 5)), torch.randint(2, 11, (8, 4))
    read = torch.cat([torch.full((8, 1), 11), target[:, :-1]], dim=1)
    mask = token_mask(torch.full((8,), 5), 5)

    def loss() -> torch.Tensor:
        features = model.features(model.encode(source, mask), read).flatten(0, 1)
        smoothing = recipe.training.label_smoothing
        return linear_cross_entropy(features, model.projection(), target.flatten(), smoothing).total

    model.eval()
    before = loss().item()
    model.train()
    for _ in range(3):
        adam.clear()
        loss().backward()
        assert all(p.grad is not None and bool(p.grad.any()) for p in model.parameters()), "every weight learns"
        adam.step(
            min(1e-3, learning_rate(recipe.training, Moment(update=4000, fraction=0.5, d_model=recipe.model.d_model)))
        )
    model.eval()
    assert loss().item() < before


def test_a_full_base_model_trains_a_step() -> None:
    recipe = load_recipe("base", {})
    torch.manual_seed(1)
    model = Transformer(section("base"), 12)
    adam = FlatOptimizer(model, recipe.training)
    source, read = torch.randint(2, 11, (2, 3)), torch.randint(2, 11, (2, 3))
    features = model.features(model.encode(source, token_mask(torch.full((2,), 3), 3)), read).flatten(0, 1)
    before = model.source_embedding.weight.detach().clone()
    linear_cross_entropy(features, model.projection(), source.flatten(), 0.1).total.backward()
    adam.step(1e-3)
    assert not torch.equal(model.source_embedding.weight, before)
