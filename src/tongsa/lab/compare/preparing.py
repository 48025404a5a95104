"""Prepare a comparison: the plan, and the same subwords, ids and test set for all models."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import torch

from tongsa.base.devices import usable_cores
from tongsa.base.errors import CorpusError
from tongsa.base.progress import Show
from tongsa.config import Recipe
from tongsa.config.auto import Situation, choose_recipe
from tongsa.data.prepare import Prepared, PrepareSettings, prepare_pairs
from tongsa.data.spill import Pairs, Spill, spilled
from tongsa.formats.pairs import Reading, open_corpus
from tongsa.lab.compare import sizes
from tongsa.lab.compare.plan import CompareOptions, ComparisonPlan, shared_recipe, write_plan
from tongsa.text.subwords import VocabularySizeError
from tongsa.training.fitting import resolved

PREPARED = "prepared"

Texts = list[tuple[str, str]]
"""Pairs of a source and its reference."""


def prepare_comparison(folder: Path, options: CompareOptions, show: Show) -> tuple[ComparisonPlan, Texts]:
    """Write subwords, ids and the plan; return the plan and the pairs to test on."""
    common = {key: value for key, value in options.settings.items() if not key.startswith("model.")}
    middling = choose_recipe(Situation(pairs=100_000, characters=10**7), common).recipe
    for name in options.recipes().values():  # before anything is read: a typo should not cost minutes
        shared_recipe(name, middling, options)
    corpus = middling.corpus
    reading = Reading(source=options.source, target=options.target, encoding=corpus.encoding, salvage=corpus.salvage)
    training = open_corpus(options.corpora, reading)
    validation = open_corpus(options.valid, reading) if options.valid else None
    test = [(pair.source, pair.target) for pair in open_corpus(options.test, reading)] if options.test else []
    if options.test and not test:
        raise CorpusError(f"{', '.join(options.test)} has no pairs to test on")
    prepared = folder / PREPARED
    with spilled(training, middling.corpus, seed=options.seed, folder=prepared / "data", show=show) as text:
        for line in training.left_out.lines():
            show.say(line)
        recipes = _prepare(prepared, text, validation, options, common, show)
    data = Prepared.open(prepared)
    wanted = None
    if options.match_parameters:
        recipes, wanted = _matched(recipes, data, show)
    device = torch.device(options.device)
    threads = options.threads or usable_cores()
    plan = ComparisonPlan(
        options=options,
        digest=text.survey.digest,
        parameters=wanted,
        recipes={name: resolved(recipe, threads, device) for name, recipe in recipes.items()},
    )
    if not test:
        show.say("no --test: the models are compared on the validation set, which also selected their weights")
    return write_plan(folder, plan), test or data.valid_text


def _prepare(
    directory: Path,
    text: Spill,
    validation: Pairs | None,
    options: CompareOptions,
    common: Mapping[str, str],
    show: Show,
) -> dict[str, Recipe]:
    """Write the ids; return them with their recipes, with fewer subwords if the text is too small for as many."""

    threads = options.threads or usable_cores()

    def recipes(shared: Recipe) -> dict[str, Recipe]:
        return {label: shared_recipe(name, shared, options) for label, name in options.recipes().items()}

    def write(shared: Recipe) -> None:
        first = next(iter(recipes(shared).values()))  # all recipes agree in everything that determines the ids
        settings = PrepareSettings(directory=directory, recipe=first, threads=threads, show=show)
        prepare_pairs(text, validation, settings)

    situation = Situation(pairs=text.survey.pairs, characters=text.survey.characters)
    shared = choose_recipe(situation, common).recipe
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
    """Scale all models to about as many parameters as the Transformer, or as the first model if there is none."""
    subwords = data.subwords
    vocabulary = sizes.Vocabulary(len(subwords.source), None if subwords.joint else len(subwords.target))
    reference = "transformer" if "transformer" in recipes else next(iter(recipes))
    wanted = sizes.parameters(recipes[reference].model, vocabulary)
    matched = {name: sizes.matched(recipe, wanted, vocabulary) for name, recipe in recipes.items() if name != reference}
    for name, recipe in matched.items():
        count = sizes.parameters(recipe.model, vocabulary)
        off = f"{100 * (count / wanted - 1):+.1f}%"
        show.say(f"{name}: d_model {recipe.model.d_model} for {count:,} parameters ({reference} has {wanted:,}: {off})")
    return {name: matched.get(name, recipe) for name, recipe in recipes.items()}, wanted
