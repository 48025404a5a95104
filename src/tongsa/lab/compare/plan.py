"""What is compared: which models, each with its own recipe, on which text, for how long.

What must be equal for the comparison to be fair ([corpus], [subwords], [decoding], the budget) is laid over every
recipe; what belongs to an architecture ([model], how it is trained) stays its own.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tongsa.base.errors import DirectoryError, RecipeError, UsageError
from tongsa.base.files import write_atomically
from tongsa.config import Recipe, architecture_names, hint
from tongsa.config.presets import load_recipe, recipe_names

PLAN = "plan.json"
MODELS = "models"
"""Beside the plan: a translator directory a model."""
RESULTS = "results"
"""And what was measured of each."""

ENDLESS = 1_000_000
"""Updates of a training whose budget is minutes."""

VALIDATION_PAIRS = 300
"""Pairs scored while training: validations are paid from the same minutes, and some models decode slowly."""

FALLBACK_WIDTH = 256
"""d_model of an architecture that has no recipe."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that decides what a comparison gives."""

    source: str
    target: str
    corpora: list[str]
    valid: list[str]
    test: list[str]
    digest: str
    """Changes with the text of the corpora."""
    minutes: float | None
    updates: int | None
    parameters: int | None
    """What every model was scaled to, where that was asked for."""
    settings: dict[str, str]
    seed: int
    threads: int
    device: str
    recipes: dict[str, Recipe]
    """By the name that a model has in tables and figures, in their order."""

    def to_values(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {**values, "recipes": {name: recipe.to_values() for name, recipe in self.recipes.items()}}

    @property
    def budget(self) -> str:
        """In words."""
        parts = [f"{self.minutes:g} minutes"] if self.minutes else []
        parts += [f"{self.updates:,} updates"] if self.updates else []
        words = " or ".join(parts) + " each"
        return words + (f", about {self.parameters:,} parameters" if self.parameters else "")


def names_of(models: str | Sequence[str]) -> dict[str, str]:
    """`"lstm, my.toml"` as {label: recipe}; a file is called by its stem."""
    given = models.split(",") if isinstance(models, str) else list(models)
    recipes = [name.strip() for name in given if name.strip()]
    if not recipes:
        raise UsageError("there are no models to compare", "For example:  --models lstm,lstm-attention,transformer")
    labels = {_label(name): name for name in recipes}
    if len(labels) < len(recipes):
        raise UsageError(f"a model is named twice in {', '.join(recipes)}")
    return labels


def _label(name: str) -> str:
    return Path(name).stem if name.endswith(".toml") else name


def own_recipe(name: str) -> Recipe:
    """A recipe by name or file; for an architecture that has none, `tiny` with that architecture."""
    if name in recipe_names() or name.endswith(".toml"):
        return load_recipe(name, {})
    if name in architecture_names():
        return load_recipe("tiny", {"model.architecture": name, "model.d_model": str(FALLBACK_WIDTH)})
    known = [*recipe_names(), *(each for each in architecture_names() if each not in recipe_names())]
    raise RecipeError(
        f"there is no model {name}{hint(name, known)}",
        f"A model is a recipe or an architecture: {', '.join(known)}",
        "or a TOML file of your own:  --models lstm,my.toml",
    )


def levelled(
    name: str, shared: Recipe, settings: Mapping[str, str], minutes: float | None, updates: int | None
) -> Recipe:
    """A model's own recipe on the common ground."""
    own = own_recipe(name)
    training = dataclasses.replace(
        own.training,
        updates=updates or ENDLESS,
        patience=0,  # a budget is a budget
        validation_pairs=VALIDATION_PAIRS,
    )
    level = dataclasses.replace(
        own, corpus=shared.corpus, subwords=shared.subwords, decoding=shared.decoding, training=training
    )
    return level.with_settings(settings, f"recipe {name} with --set")


def go_on(folder: Path, plan: Plan) -> Plan:
    """Write the plan down, or hold it against the one that is there.

    Models may join a comparison; whatever else differs would make it unfair. Those that were there before stay in it.
    """
    path = folder / PLAN
    if path.is_file():
        before = _read(path)
        _check_same(folder, before, plan.to_values())
        earlier = {
            name: Recipe.from_values(values, str(path))
            for name, values in before["recipes"].items()
            if name not in plan.recipes
        }
        plan = dataclasses.replace(plan, recipes={**earlier, **plan.recipes})
    write_atomically(path, json.dumps(plan.to_values(), indent=2, ensure_ascii=False))
    return plan


def _read(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(values, dict) and isinstance(values["recipes"], dict):
            return values
    except (OSError, ValueError, KeyError):
        pass
    raise DirectoryError(f"{path} is damaged", "Begin anew with another --out.")


def _check_same(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    told = {"digest": "the text of the corpora", "settings": "--set", "corpora": "the corpora"}
    differing = [told.get(key, key) for key in now if key != "recipes" and before.get(key) != now[key]]
    if differing:
        raise DirectoryError(
            f"{folder} holds a comparison with other {', '.join(differing)}",
            "Go on with the command that it was begun with, or choose another --out.",
        )
    begun = [name for name in now["recipes"] if (folder / MODELS / name).exists() and name in before["recipes"]]
    changed = [name for name in begun if before["recipes"][name] != now["recipes"][name]]
    if changed:
        raise DirectoryError(
            f"the recipe of {', '.join(changed)} has changed since {folder} was begun",
            f"To train it anew, remove {folder / MODELS / changed[0]} and {folder / RESULTS / changed[0]}.json,",
            "or choose another --out.",
        )
