"""Count the parameters of a model, and find the width at which it has as many as another."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import torch

from tongsa.config import ModelSection, Recipe
from tongsa.models import build

WIDTHS = ("d_ff", "hidden")
"""Keys that scale with d_model, if an architecture has them and sets them to a number."""


@dataclass(frozen=True)
class Vocabulary:
    """Number of ids on each side, including `<pad>`; no target means a joint vocabulary."""

    source: int
    target: int | None


def parameters(section: ModelSection, vocabulary: Vocabulary) -> int:
    """Number of parameters, counted on the meta device: no memory is allocated."""
    with torch.device("meta"):
        model = build(section, vocabulary.source, vocabulary.target)
    return sum(parameter.numel() for parameter in model.parameters())


def matched(recipe: Recipe, wanted: int, vocabulary: Vocabulary) -> Recipe:
    """The recipe at the width whose number of parameters is closest to the wanted number."""
    low, high = 1, 2
    unit = _unit(recipe.model)
    while _count(recipe.model, unit * high, vocabulary) < wanted:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if _count(recipe.model, unit * middle, vocabulary) < wanted:
            low = middle
        else:
            high = middle
    nearest = min((low, high), key=lambda width: abs(_count(recipe.model, unit * width, vocabulary) - wanted))
    return dataclasses.replace(recipe, model=scaled(recipe.model, unit * nearest))


def scaled(section: ModelSection, d_model: int) -> ModelSection:
    """The same shape at another width: multiples of d_model stay the same multiples."""
    changes = {"d_model": d_model}
    for key in WIDTHS:
        before = getattr(section, key, 0)
        if before:
            changes[key] = max(2, round(before * d_model / section.d_model / 2) * 2)
    return dataclasses.replace(section, **changes)  # type: ignore[arg-type]


def _unit(section: ModelSection) -> int:
    """The smallest step of d_model that heads and sinusoids allow."""
    for step in (4, 8, 16, 32, 64, 128):
        if all(not scaled(section, step * times).problems() for times in (1, 2, 3)):
            return step
    return section.d_model


def _count(section: ModelSection, d_model: int, vocabulary: Vocabulary) -> int:
    return parameters(scaled(section, d_model), vocabulary)
