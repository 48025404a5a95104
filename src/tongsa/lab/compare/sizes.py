"""Count the parameters of a model, and find the width at which it has as many as another."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from tongsa.config import ModelSection, Recipe
from tongsa.models import build
from tongsa.models.weights import shapes_only

CLOSE = 0.02
"""Deviation from the wanted number of parameters that is close enough, as a fraction."""
WIDTHS = ("d_ff", "hidden")
"""Keys that scale with d_model, if an architecture has them and sets them to a number."""


@dataclass(frozen=True)
class Vocabulary:
    """Number of ids on each side, including `<pad>`; no target means a joint vocabulary."""

    source: int
    target: int | None


def parameters(section: ModelSection, vocabulary: Vocabulary) -> int:
    """Number of parameters, counted without allocating them."""
    with shapes_only():
        model = build(section, vocabulary.source, vocabulary.target)
    return sum(parameter.numel() for parameter in model.parameters())


def matched(recipe: Recipe, wanted: int, vocabulary: Vocabulary) -> Recipe:
    """The recipe at a width whose number of parameters is close to the wanted number.

    Widths are multiples of 4, which are fast, unless only smaller steps come close enough.
    """
    found = recipe.model
    for step in (4, 2, 1):
        nearest = _nearest(recipe.model, wanted, vocabulary, _unit(recipe.model, step))
        found = _refined(nearest, wanted, vocabulary)
        if abs(parameters(found, vocabulary) / wanted - 1) <= CLOSE:
            break
    return dataclasses.replace(recipe, model=found)


def _nearest(section: ModelSection, wanted: int, vocabulary: Vocabulary, unit: int) -> ModelSection:
    """The multiple of `unit` as d_model whose number of parameters is closest to the wanted number."""
    low, high = 1, 2
    while _count(section, unit * high, vocabulary) < wanted:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if _count(section, unit * middle, vocabulary) < wanted:
            low = middle
        else:
            high = middle
    nearest = min((low, high), key=lambda width: abs(_count(section, unit * width, vocabulary) - wanted))
    return scaled(section, unit * nearest)


def _refined(section: ModelSection, wanted: int, vocabulary: Vocabulary) -> ModelSection:
    """The same d_model with an inner width that brings the number of parameters closer to the wanted one."""
    key = next((key for key in WIDTHS if getattr(section, key, 0)), None)
    if key is None:
        return section
    before: int = getattr(section, key)

    def at(width: int) -> ModelSection:
        return dataclasses.replace(section, **{key: width})  # type: ignore[arg-type]

    count = parameters(section, vocabulary)
    for_two = parameters(at(before + 2), vocabulary) - count
    guess = max(2, before + 2 * round((wanted - count) / for_two)) if for_two else before
    fitting = [at(width) for width in (before, guess - 2, guess, guess + 2) if width > 0 and not at(width).problems()]
    return min(fitting, key=lambda each: abs(parameters(each, vocabulary) - wanted))


def scaled(section: ModelSection, d_model: int) -> ModelSection:
    """The same shape at another width: multiples of d_model stay the same multiples."""
    changes = {"d_model": d_model}
    for key in WIDTHS:
        before = getattr(section, key, 0)
        if before:
            changes[key] = max(2, round(before * d_model / section.d_model / 2) * 2)
    return dataclasses.replace(section, **changes)  # type: ignore[arg-type]


def _unit(section: ModelSection, least: int) -> int:
    """The smallest step of d_model from `least` on that heads and sinusoids allow."""
    for step in (least, 2, 4, 8, 16, 32, 64, 128):
        if step >= least and all(not scaled(section, step * times).problems() for times in (1, 2, 3)):
            return step
    return section.d_model


def _count(section: ModelSection, d_model: int, vocabulary: Vocabulary) -> int:
    return parameters(scaled(section, d_model), vocabulary)
