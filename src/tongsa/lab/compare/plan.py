"""The plan of a comparison: which models, each with its own recipe, on which text, for how long.

Settings that must be equal for a fair comparison ([corpus], [subwords], [decoding], the budget) override every recipe;
those that belong to an architecture ([model], how it is trained) are kept.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tongsa.base.errors import DirectoryError, RecipeError, UsageError
from tongsa.base.files import write_atomically
from tongsa.config import Recipe, architecture_names, hint
from tongsa.config.presets import load_recipe, recipe_names
from tongsa.evaluation.metrics import text_metrics

PLAN = "plan.json"
MODELS = "models"
"""Folder with a translator directory for each model."""
LOCKS = "locks"
"""Folder with the locks of the processes that work on this comparison."""
RESULTS = "results"
"""Folder with the measurements of each model."""

ENDLESS = 1_000_000
"""Maximum number of updates in a training whose budget is in minutes."""

VALIDATION_PAIRS = 300
"""Number of pairs scored in a validation: validations count towards the budget, and some models decode slowly."""

FALLBACK_WIDTH = 256
"""d_model of an architecture without a recipe."""

ALL = "all"
ALL_MODELS = (
    "transformer",
    "convs2s",
    "bytenet",
    "extended-neural-gpu",
    "lstm-attention",
    "gru-attention",
    "lstm",
    "lstm-bidirectional",
    "gru",
    "rnn",
    "rnn-plain",
)
"""What `--models all` stands for: every system that translates and has a recipe for small data."""


@dataclass(frozen=True)
class Budget:
    """What every model may spend: minutes or updates."""

    minutes: float | None
    updates: int | None

    @property
    def kind(self) -> str:
        return "minutes" if self.minutes else "updates"

    @property
    def text(self) -> str:
        return f"{self.minutes:g} minutes each" if self.minutes else f"{self.updates:,} updates each"

    def row(self, model: str, first: bool) -> str:
        """Name of the row of a grid: the model; for the second of two budgets also the kind of budget."""
        return model if first else f"{model}.{self.kind}"


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """The options of a comparison, except the output directory."""

    models: tuple[str, ...]
    """Recipes, architectures or TOML files."""
    corpora: tuple[str, ...]
    """Training corpora."""
    source: str
    """Code of the source language."""
    target: str
    """Code of the target language."""
    valid: tuple[str, ...] = ()
    """Corpora to validate on; without them a part of the training corpora is held out."""
    test: tuple[str, ...] = ()
    """Corpora to compare on; without them the validation set is used."""
    minutes: float | None = None
    """Training time of each model; with updates too, every model is trained twice."""
    updates: int | None = None
    """Updates of each model."""
    match_parameters: bool = False
    """Scale d_model until all models have as many parameters as the Transformer."""
    metrics: tuple[str, ...] = ("bleu", "chrf")
    """Names of text metrics; the first one ranks the models."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Changes to every model's recipe, `{"section.key": "value"}`."""
    seed: int = 1
    """Seed for all random choices."""
    seeds: int = 1
    """Trainings of each model: from `seed` and the seeds that follow it."""
    threads: int | None = None
    """Cores to use; None takes all that this process may use."""
    device: str = "auto"
    """cpu, cuda, or auto: a GPU where there is one."""

    def check(self) -> None:
        """Check the options before anything is read."""
        if not self.minutes and not self.updates:
            example = "For example:  --minutes 20  or  --updates 5000  (each model)"
            raise UsageError("a comparison needs a budget", example)
        if self.seeds < 1:
            raise UsageError(f"--seeds must be at least 1, not {self.seeds}")
        text_metrics(self.metrics)
        self.recipes()

    def recipes(self) -> dict[str, str]:
        """Recipes by the name of the model in tables: the name of the recipe, or the stem of its file."""
        given = [name.strip() for name in self.models if name.strip()]
        names = [each for name in given for each in (ALL_MODELS if name == ALL else (name,))]
        if not names:
            raise UsageError("there are no models to compare", "For example:  --models lstm,lstm-attention,transformer")
        labels = {Path(name).stem if name.endswith(".toml") else name: name for name in names}
        if len(labels) < len(names):
            raise UsageError(f"a model occurs twice in {', '.join(names)}")
        return labels

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """Every model is trained once with each of these, from every seed."""
        minutes = (Budget(self.minutes, None),) if self.minutes else ()
        return minutes + ((Budget(None, self.updates),) if self.updates else ())


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """Everything that determines the result of a comparison."""

    options: CompareOptions
    """The options, with threads and device resolved for this machine."""
    digest: str
    """Digest of the text of the corpora."""
    parameters: int | None
    """Number of parameters that every model was scaled to, if any."""
    recipes: dict[str, Recipe]
    """Recipes by the name of the model in tables and figures, in the order shown there."""

    def describe(self, budget: Budget) -> str:
        """The budget and the number of parameters, in words."""
        return budget.text + (f", about {self.parameters:,} parameters" if self.parameters else "")

    def rows(self) -> dict[str, tuple[str, Budget]]:
        """The model and the budget of every row of the grid of trainings."""
        budgets = self.options.budgets
        return {
            budget.row(model, first=budget is budgets[0]): (model, budget)
            for budget in budgets
            for model in self.recipes
        }

    def recipe(self, model: str, budget: Budget) -> Recipe:
        recipe = self.recipes[model]
        if "training.updates" in self.options.settings:
            return recipe
        training = dataclasses.replace(recipe.training, updates=budget.updates or ENDLESS)
        return dataclasses.replace(recipe, training=training)

    def to_values(self) -> dict[str, Any]:
        options = {key: value for key, value in dataclasses.asdict(self.options).items() if key != "models"}
        values = json.loads(json.dumps({**options, "digest": self.digest, "parameters": self.parameters}))
        return {**values, "recipes": {name: recipe.to_values() for name, recipe in self.recipes.items()}}


def own_recipe(name: str) -> Recipe:
    """A recipe by name or file; for an architecture that has none, `tiny` with that architecture."""
    if name in recipe_names() or name.endswith(".toml"):
        return load_recipe(name, {})
    if name in architecture_names():
        return load_recipe("tiny", {"model.architecture": name, "model.d_model": str(FALLBACK_WIDTH)})
    known = [*recipe_names(), *(each for each in architecture_names() if each not in recipe_names())]
    raise RecipeError(
        f"unknown model: {name}{hint(name, known)}",
        f"A model is a recipe or an architecture: {', '.join(known)}",
        "or a TOML file of your own:  --models lstm,my.toml",
    )


def shared_recipe(name: str, shared: Recipe, options: CompareOptions) -> Recipe:
    """A model's own recipe, overridden by the settings that all models must share."""
    own = own_recipe(name)
    training = dataclasses.replace(
        own.training,
        updates=options.updates or ENDLESS,
        patience=0,  # always use the whole budget
        average_of="best",  # checkpoints are chosen by the validation set, so a model that overfits loses nothing
        validation_pairs=VALIDATION_PAIRS,
    )
    laid = dataclasses.replace(
        own, corpus=shared.corpus, subwords=shared.subwords, decoding=shared.decoding, training=training
    )
    return laid.with_settings(options.settings, f"recipe {name} with --set")


def write_plan(folder: Path, plan: ComparisonPlan) -> ComparisonPlan:
    """Write the plan, or compare it with the existing one.

    Models and seeds may be added to a comparison, and other metrics computed; any other difference would make it
    unfair. Earlier models stay in it.
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
    raise DirectoryError(f"{path} is damaged", "Start again with another --out.")


def _check_same(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    labels = {"digest": "the text of the corpora", "settings": "--set", "corpora": "the corpora"}
    free = ("recipes", "seeds", "metrics")
    differing = [labels.get(key, key) for key in now if key not in free and before.get(key, now[key]) != now[key]]
    if differing:
        raise DirectoryError(
            f"{folder} contains a comparison with other {', '.join(differing)}",
            "Use the command that it was started with, or choose another --out.",
        )
    started = [name for name in now["recipes"] if (folder / MODELS / name).exists() and name in before["recipes"]]
    earlier = {name: Recipe.from_values(before["recipes"][name], str(folder / PLAN)).to_values() for name in started}
    changed = [name for name in started if earlier[name] != now["recipes"][name]]  # an older version knew fewer keys
    if changed:
        raise DirectoryError(
            f"the recipe of {', '.join(changed)} has changed since {folder} was started",
            f"To train it again, remove {folder / MODELS / changed[0]} and {folder / RESULTS / changed[0]}.json,",
            "or choose another --out.",
        )
