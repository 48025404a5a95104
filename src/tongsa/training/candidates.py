"""The recipes that `tongsa train --tune` tries: the given one, and others near it, drawn from a small space."""

from __future__ import annotations

import math
import random
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from tongsa.base.errors import RecipeError, UsageError
from tongsa.config import Recipe
from tongsa.config.schedules import equation_3


@dataclass(frozen=True)
class Dimension:
    """Keys that are changed together, each by the same factor or sum."""

    name: str
    keys: tuple[str, ...]
    how: Literal["times", "plus"]
    choices: tuple[float, ...]


SIZE = "subwords.size"

SPACE = (
    Dimension("learning rate", ("training.peak",), "times", (0.5, 0.7, 1.4, 2.0)),
    Dimension("warm-up", ("training.warmup",), "times", (0.5, 2.0)),
    Dimension("batch", ("training.batch_tokens",), "times", (0.5, 2.0)),
    Dimension("dropout", ("model.dropout",), "plus", (-0.1, -0.05, 0.05, 0.1)),
    # Never less than in the recipe: smoothing costs loss, by which candidates are compared, but gains BLEU (§5.4).
    Dimension("label smoothing", ("training.label_smoothing",), "plus", (0.05, 0.1)),
    Dimension("width", ("model.d_model", "model.d_ff"), "times", (0.75, 1.5)),
    Dimension("depth", ("model.encoder_layers", "model.decoder_layers", "model.layers"), "times", (0.5, 1.5)),
    Dimension("vocabulary", (SIZE,), "times", (0.5, 2.0)),
)
"""The search space, relative to the recipe. Keys that an architecture does not have are left out."""

CHANGES = (1, 2, 2, 3)
"""How many dimensions a candidate changes, drawn from these: near a good recipe most changes are for the worse."""

HIGHEST = {"model.dropout": 0.5, "training.label_smoothing": 0.3}

MAX_DRAWS = 100
"""Draws for each candidate before the space counts as exhausted."""

Settings = dict[str, str]


def draw_candidates(
    recipe: Recipe, count: int, *, seed: int, fixed: Collection[str], unusable: Collection[str] = ()
) -> list[Settings]:
    """Settings of `count` different candidates: first none at all, then changes drawn from the space.

    fixed      keys that are not searched
    unusable   sizes of vocabularies that the text does not allow
    """
    free = [each for each in SPACE if not any(key in fixed for key in each.keys)]
    dimensions = [each for each in free if _applies(recipe, each)]
    draw = random.Random(f"recipes {seed}")
    found: list[Settings] = [{}]
    for _ in range(MAX_DRAWS * count if dimensions else 0):
        if len(found) == count:
            break
        chosen = draw.sample(dimensions, min(len(dimensions), draw.choice(CHANGES)))
        settings = {key: value for each in chosen for key, value in changed(recipe, each, draw.choice(each.choices))}
        usable = settings.get(SIZE) not in unusable
        if settings and settings not in found and usable and _works(recipe, settings):
            found.append(settings)
    if len(found) < count:
        raise UsageError(
            f"there are only {len(found)} recipes to try, not {count}",
            "A key that is given with --set is not searched: set fewer, or lower --tune.",
        )
    return found


def changed(recipe: Recipe, dimension: Dimension, amount: float) -> list[tuple[str, str]]:
    """The keys of a dimension with their changed values; those that stay as they are are left out."""
    found = []
    for key in dimension.keys:
        before = current(recipe, key)
        if before is None:
            continue
        after = before * amount if dimension.how == "times" else before + amount
        value = _rounded(recipe, key, before, after)
        if value != before and 0 <= value <= HIGHEST.get(key, math.inf):
            found.append((key, str(value)))
    return found


def current(recipe: Recipe, key: str) -> Any:
    """The value of a key; None if the recipe does not have it. A peak of 0 is that of Eq. 3."""
    section, _, name = key.partition(".")
    value = getattr(getattr(recipe, section), name, None)
    return peak(recipe) if key == "training.peak" else value


def peak(recipe: Recipe) -> float:
    """The highest learning rate."""
    section = recipe.training
    return section.peak or float(f"{equation_3(section.warmup, recipe.model.d_model, section.warmup):.3g}")


def _rounded(recipe: Recipe, key: str, before: Any, after: float) -> float:
    if isinstance(before, float):
        return float(f"{after:.3g}")
    steps = {
        "model.d_model": math.lcm(8, getattr(recipe.model, "heads", 1)),
        "model.d_ff": 8,
        SIZE: 100 if before >= 1000 else 1,
    }
    step = steps.get(key, 1)
    return max(1, round(after / step)) * step


def _applies(recipe: Recipe, dimension: Dimension) -> bool:
    if SIZE in dimension.keys and recipe.subwords.kind not in ("bpe", "unigram"):
        return False
    return any(changed(recipe, dimension, amount) for amount in dimension.choices)


def _works(recipe: Recipe, settings: Settings) -> bool:
    try:
        recipe.with_settings(settings)
    except RecipeError:
        return False
    return True
