"""What all models of a comparison stand on: one set of subwords, the same ids, the same test; and the plan of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from tongsa.base.errors import CorpusError
from tongsa.base.progress import Show
from tongsa.config import Recipe
from tongsa.config.presets import choose_recipe
from tongsa.data.prepare import Pairs, Prepared, Survey, prepare, survey
from tongsa.formats.pairs import Reading, open_corpus
from tongsa.lab.compare import sizes
from tongsa.lab.compare.plan import Plan, go_on, levelled
from tongsa.text.subwords import VocabularySizeError
from tongsa.training.run import resolved

PREPARED = "prepared"

Texts = list[tuple[str, str]]
"""Pairs of a source and its reference."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a comparison is told."""

    models: dict[str, str]
    """Recipes by the names that they have in tables."""
    source: str
    target: str
    corpora: list[str]
    valid: list[str]
    test: list[str]
    minutes: float | None
    updates: int | None
    match_parameters: bool
    settings: dict[str, str]
    seed: int
    threads: int
    device: str


def prepared_plan(folder: Path, asked: Asked, show: Show) -> tuple[Plan, Texts]:
    """Subwords and ids on the disk, the plan beside them, and the pairs to test on."""
    common = {key: value for key, value in asked.settings.items() if not key.startswith("model.")}
    middling = choose_recipe(100_000, 10**7, gpu=False, settings=common).recipe
    for name in asked.models.values():  # before anything is read: a typing error should not cost minutes
        levelled(name, middling, asked.settings, asked.minutes, asked.updates)
    reading = Reading(source=asked.source, target=asked.target, encoding=middling.corpus.encoding)
    training = open_corpus(asked.corpora, reading)
    validation = open_corpus(asked.valid, reading) if asked.valid else None
    test = [(pair.source, pair.target) for pair in open_corpus(asked.test, reading)] if asked.test else []
    if asked.test and not test:
        raise CorpusError(f"{', '.join(asked.test)} has no pairs to test on")
    found = survey(training, show)
    for line in training.left_out.lines():
        show.say(line)
    recipes = _prepare(folder / PREPARED, training, validation, found, asked, common, show)
    data = Prepared.open(folder / PREPARED)
    wanted = None
    if asked.match_parameters:
        recipes, wanted = _matched(recipes, data, show)
    device = torch.device(asked.device)
    plan = Plan(
        source=asked.source,
        target=asked.target,
        corpora=asked.corpora,
        valid=asked.valid,
        test=asked.test,
        digest=found.digest,
        minutes=asked.minutes,
        updates=asked.updates,
        parameters=wanted,
        settings=asked.settings,
        seed=asked.seed,
        threads=asked.threads,
        device=asked.device,
        recipes={name: resolved(recipe, asked.threads, device) for name, recipe in recipes.items()},
    )
    if not test:
        show.say("no --test: the models are compared on the validation set, which chose their weights")
    return go_on(folder, plan), test or data.valid_text


def _prepare(
    folder: Path,
    training: Pairs,
    validation: Pairs | None,
    found: Survey,
    asked: Asked,
    common: Mapping[str, str],
    show: Show,
) -> dict[str, Recipe]:
    """The ids on the disk, and the recipes that go with them; where the text bears fewer subwords, with as many."""

    def recipes(shared: Recipe) -> dict[str, Recipe]:
        return {
            label: levelled(name, shared, asked.settings, asked.minutes, asked.updates)
            for label, name in asked.models.items()
        }

    def write(shared: Recipe) -> None:
        first = next(iter(recipes(shared).values()))  # they are alike in everything that decides the ids
        prepare(folder, training, validation, found, first, seed=asked.seed, threads=asked.threads, show=show)

    shared = choose_recipe(found.pairs, found.characters, gpu=False, settings=common).recipe
    try:
        write(shared)
    except VocabularySizeError as error:
        if "subwords.size" in common:
            raise
        show.say(f"vocabulary {error.bearable:,} instead: {error.what}")
        subwords = dataclasses.replace(shared.subwords, size=error.bearable)
        shared = dataclasses.replace(shared, subwords=subwords)
        write(shared)
    return recipes(shared)


def _matched(recipes: dict[str, Recipe], data: Prepared, show: Show) -> tuple[dict[str, Recipe], int]:
    """All models at about as many parameters as the Transformer has, or else the first of them."""
    subwords = data.subwords
    vocabulary = sizes.Vocabulary(len(subwords.source), None if subwords.joint else len(subwords.target))
    reference = "transformer" if "transformer" in recipes else next(iter(recipes))
    wanted = sizes.parameters(recipes[reference].model, vocabulary)
    matched = {name: sizes.matched(recipe, wanted, vocabulary) for name, recipe in recipes.items() if name != reference}
    for name, recipe in matched.items():
        count = sizes.parameters(recipe.model, vocabulary)
        show.say(f"{name}: d_model {recipe.model.d_model} for {count:,} parameters ({reference} has {wanted:,})")
    return {name: matched.get(name, recipe) for name, recipe in recipes.items()}, wanted
