"""Recipes by name: the paper's models as differences from its base model, two sizes for small data, and `auto`.

Table 3 is itself a list of differences, and is written as one here. Recipes in files of their own are in recipes/.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tongsa.base.errors import RecipeError
from tongsa.config import Recipe, hint, merge, parse_settings, read_toml

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "base": {},
    # Table 3, (A): heads, with the amount of computation kept
    "A1": {"model": {"heads": 1, "d_k": 512, "d_v": 512}},
    "A2": {"model": {"heads": 4, "d_k": 128, "d_v": 128}},
    "A3": {"model": {"heads": 16, "d_k": 32, "d_v": 32}},
    "A4": {"model": {"heads": 32, "d_k": 16, "d_v": 16}},
    # (B): the size of the keys
    "B1": {"model": {"d_k": 16}},
    "B2": {"model": {"d_k": 32}},
    # (C): depth and widths
    "C1": {"model": {"encoder_layers": 2, "decoder_layers": 2}},
    "C2": {"model": {"encoder_layers": 4, "decoder_layers": 4}},
    "C3": {"model": {"encoder_layers": 8, "decoder_layers": 8}},
    "C4": {"model": {"d_model": 256, "d_k": 32, "d_v": 32}},
    "C5": {"model": {"d_model": 1024, "d_k": 128, "d_v": 128}},
    "C6": {"model": {"d_ff": 1024}},
    "C7": {"model": {"d_ff": 4096}},
    # (D): dropout and label smoothing
    "D1": {"model": {"dropout": 0.0}},
    "D2": {"model": {"dropout": 0.2}},
    "D3": {"training": {"label_smoothing": 0.0}},
    "D4": {"training": {"label_smoothing": 0.2}},
    # (E): learned positions instead of sinusoids
    "E": {"model": {"positions": "learned"}},
    "big": {
        "model": {"d_model": 1024, "d_ff": 4096, "heads": 16, "dropout": 0.3},
        # §6.1: the last 20 checkpoints, one in 10 minutes: at 1.0 seconds a step (§5.2), one in 600 updates
        "training": {"updates": 300_000, "checkpoint_every": 600, "average": 20},
    },
    # for small data and a CPU
    "tiny": {
        "subwords": {"size": 8000},
        "model": {"encoder_layers": 4, "decoder_layers": 4, "d_model": 128, "d_ff": 256, "heads": 4, "dropout": 0.15},
        "training": {"batch_tokens": 4096, "schedule": "cosine", "peak": 0.003, "warmup": 800, "updates": 20_000},
    },
    "small": {
        "subwords": {"size": 8000},
        "model": {"encoder_layers": 3, "decoder_layers": 3, "d_model": 256, "d_ff": 1024, "heads": 4, "dropout": 0.2},
        "training": {"batch_tokens": 4096, "schedule": "cosine", "peak": 0.0015, "warmup": 1000, "updates": 30_000},
    },
}


def load_recipe(name: str, settings: Mapping[str, str]) -> Recipe:
    """Load a preset, a recipe in recipes/, or a TOML file, and apply `--set` to it.

    A file may start with `preset = "tiny"`; it then holds only the differences from that preset.
    """
    values, where = _values(name)
    return Recipe.from_values(merge(values, parse_settings(settings)), where)


def recipe_names() -> list[str]:
    """List the names that `--recipe` accepts besides `auto`."""
    return [*PRESETS, *_shipped()]


def _values(name: str) -> tuple[dict[str, Any], str]:
    if name in PRESETS:
        return merge({}, PRESETS[name]), f"recipe {name}"
    path = _shipped().get(name, Path(name))
    if not path.is_file():
        raise RecipeError(
            f"unknown recipe: {name}{hint(name, recipe_names())}",
            f"Known recipes: auto, {', '.join(recipe_names())}",
            "A recipe of your own is a TOML file:  --recipe my.toml",
        )
    values = read_toml(path)
    preset = values.pop("preset", "base")
    if not isinstance(preset, str) or preset not in PRESETS:
        raise RecipeError(f"{path} starts from preset {preset!r}, which is unknown", f"Known: {', '.join(PRESETS)}")
    return merge(PRESETS[preset], values), str(path)


def _shipped() -> dict[str, Path]:
    """The recipes in recipes/ by name: the path there without .toml, as in paper/wmt14-en-de-base."""
    folder = Path(__file__).parent / "recipes"
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.rglob("*.toml"))}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Choice:
    """The recipe that `auto` chose, and the reasons."""

    recipe: Recipe
    reasons: list[str]


def choose_recipe(pairs: int, characters: int, *, gpu: bool, settings: Mapping[str, str]) -> Choice:
    """Choose the `auto` recipe: a model that suits the size of the data and the machine.

    Rules of thumb: more data supports a larger vocabulary and a wider model, and needs less dropout.
    """
    if pairs < 10_000:
        name, size, dropout, updates = "tiny", 2000, 0.3, 6_000
    elif pairs < 60_000:
        name, size, dropout, updates = "tiny", 6000, 0.15, 15_000
    elif pairs < 400_000 or not gpu:
        name, size, dropout, updates = "small", 8000, 0.1, 40_000
    else:
        name, size, dropout, updates = "base", 32_000, 0.1, 100_000
    # Each piece should occur often enough to be learnt: allow a few hundred characters of text per piece.
    bearable = max(300, characters // 200)
    size = min(size, bearable // 100 * 100 if bearable >= 1000 else bearable)
    chosen: dict[str, Any] = {
        "corpus": {"clean": True},
        "subwords": {"size": size},
        "model": {"dropout": dropout},
        "training": {"updates": updates},
    }
    values = merge(merge(PRESETS[name], chosen), parse_settings(settings))
    recipe = Recipe.from_values(values, "recipe auto")
    reasons = [
        f"model {name}: {pairs:,} pairs{' and a GPU' if gpu else ' on a CPU'}",
        f"vocabulary {recipe.subwords.size:,}: {characters:,} characters of text",
        f"dropout {recipe.model.dropout}: {'little data overfits soon' if pairs < 10_000 else 'enough data'}",
        f"{recipe.training.updates:,} updates of {recipe.training.batch_tokens:,} target tokens",
    ]
    return Choice(recipe=recipe, reasons=reasons)
