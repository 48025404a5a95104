"""The recipe of a translation: what is checked before the text is read, and what `auto` chooses when it is known."""

from __future__ import annotations

from pathlib import Path

from tongsa.base.devices import choose_device, started_by_torchrun, usable_cores
from tongsa.base.errors import RecipeError, UsageError
from tongsa.config import Recipe
from tongsa.config.auto import GPU_SPEED, Choice, Situation, choose_recipe
from tongsa.config.presets import load_recipe
from tongsa.data.spill import Survey
from tongsa.evaluation.contracts import TextMetric
from tongsa.evaluation.metrics import METRICS
from tongsa.models.speed import training_speed
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.tasks.finetuning import fine_tuning_recipe

SELECTS = "bleu"
"""The metric that selects checkpoints if the recipe names none."""

LOSSES = ("log_loss", "perplexity")


def selecting_metric(recipe: Recipe) -> str:
    """The metric that selects checkpoints; the recipe may name one."""
    name = recipe.training.select or SELECTS
    if name not in LOSSES and not isinstance(METRICS.find(name), TextMetric):
        known = [*LOSSES, *(each for each, metric in METRICS.items() if isinstance(metric, TextMetric))]
        raise RecipeError(f"training.select is {name!r}; it can be {', '.join(known)}")
    return name


def recipe_before_reading(options: TrainOptions) -> Recipe:
    """The recipe as far as it is known before the corpora are read, so that wrong settings are reported early."""
    settings = dict(options.settings)
    if options.init:
        recipe = fine_tuning_recipe(Run(Path(options.init)), settings, options.source, options.target)
    elif options.recipe == "auto":
        recipe = choose_recipe(Situation(pairs=100_000, characters=10**7), settings).recipe
    else:
        recipe = load_recipe(options.recipe, settings)
    selecting_metric(recipe)
    _check_positions(recipe)
    _check_diversifying(recipe, options)
    return recipe


def _can_diversify(options: TrainOptions) -> bool:
    """Whether the text can be translated by translators trained on it alone."""
    return not (options.init or options.teacher or options.mix or started_by_torchrun())


def _check_diversifying(recipe: Recipe, options: TrainOptions) -> None:
    if recipe.training.diversify and not _can_diversify(options):
        raise UsageError(
            "training.diversify trains two more translators on the text alone, in one process or more of this machine",
            "It does not work with --mix, with the weights of another translator, or under torchrun.",
        )


def _check_positions(recipe: Recipe) -> None:
    """Check that learned positions cover the longest sentences of the corpus."""
    positions, longest = recipe.model.longest, recipe.corpus.max_tokens
    if positions is not None and positions <= longest:
        raise RecipeError(f"model.max_positions {positions} must be above corpus.max_tokens {longest}")


def choose_for(survey: Survey, options: TrainOptions) -> Choice:
    """The recipe that `auto` chooses for this text on this machine."""
    gpu = choose_device(options.device).type == "cuda"
    situation = Situation(
        pairs=survey.pairs,
        characters=survey.characters,
        gpu=gpu,
        minutes=options.minutes,
        can_diversify=_can_diversify(options),
        speed=GPU_SPEED if gpu else training_speed(options.threads or usable_cores()),
    )
    return choose_recipe(situation, options.settings)
