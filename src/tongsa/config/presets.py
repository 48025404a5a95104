"""Recipes by name: the paper's models as differences from its base model, and three sizes for small data.

Table 3 is itself a list of differences, and is written as one here. Recipes in files of their own are in recipes/.
"""

from __future__ import annotations

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
    # for small data and a CPU; with norm before the sublayer they learn in about half of the updates (docs/log.md)
    "tiny": {
        "subwords": {"size": 8000},
        "model": {
            "encoder_layers": 4,
            "decoder_layers": 4,
            "d_model": 128,
            "d_ff": 256,
            "heads": 4,
            "dropout": 0.15,
            "norm": "pre",
        },
        "training": {"batch_tokens": 4096, "schedule": "cosine", "peak": 0.003, "warmup": 800, "updates": 20_000},
    },
    "mini": {
        "subwords": {"size": 8000},
        "model": {
            "encoder_layers": 4,
            "decoder_layers": 3,
            "d_model": 192,
            "d_ff": 768,
            "heads": 4,
            "dropout": 0.15,
            "norm": "pre",
        },
        "training": {"batch_tokens": 4096, "schedule": "cosine", "peak": 0.002, "warmup": 1000, "updates": 30_000},
    },
    "small": {
        "subwords": {"size": 8000},
        "model": {
            "encoder_layers": 3,
            "decoder_layers": 3,
            "d_model": 256,
            "d_ff": 1024,
            "heads": 4,
            "dropout": 0.2,
            "norm": "pre",
        },
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
