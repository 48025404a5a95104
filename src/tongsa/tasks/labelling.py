"""Prepare labelled examples for classification: texts become ids, pictures become pixels, labels become numbers."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import torch
from safetensors.torch import save

from tongsa.base.devices import usable_cores
from tongsa.base.errors import CorpusError, RecipeError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.config import Recipe
from tongsa.data.labelled import LabelledText, PictureExamples, TextExamples, hold_out, labelled_texts
from tongsa.data.masking import BertTokens
from tongsa.formats.pairs import Tally
from tongsa.formats.pictures import Pixels, is_grey, labelled_pictures, open_picture, pixels
from tongsa.models.vit import VitSection
from tongsa.models.weights import named_weights, read_weights
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.tasks.classifier import build_classifier, encode_text
from tongsa.tasks.masked_language_model import build_bert
from tongsa.text.subwords import Subwords, Vocabulary, VocabularySizeError, learn

MOST_LABELS = 10_000

Example = TypeVar("Example")


def prepare_texts(run: Run, options: TrainOptions, recipe: Recipe, show: Show) -> Recipe:
    left_out = Tally()
    train, valid = (
        list(labelled_texts([Path(name) for name in names], recipe.corpus.encoding, left_out))
        for names in (options.corpora, options.valid)
    )
    for line in left_out.lines():
        show.say(line)
    labels = _labels([each.label for each in train])
    train, valid = _split(train, valid, [each.label for each in train], options, show)
    if options.init:
        vocabulary = _inherit(run, Run(Path(options.init)), recipe, len(labels), options.seed)
    else:
        vocabulary, recipe = _learn([each.text for each in train], recipe, options, show)
    Subwords(vocabulary, vocabulary).save(run.path)
    for name, part in (("train", train), ("valid", valid)):
        _encoded(part, labels, vocabulary, recipe, show).save(run.data / f"{name}.safetensors")
    _write_labels(run, labels)
    return recipe


def _encoded(
    examples: Sequence[LabelledText], labels: Sequence[str], vocabulary: Vocabulary, recipe: Recipe, show: Show
) -> TextExamples:
    longest = recipe.corpus.max_tokens
    numbers = _numbered([each.label for each in examples], labels)
    texts = [encode_text(each.text, vocabulary, longest) for each in examples]
    too_long = sum(each.cut for each in texts)
    if too_long:
        show.say(f"{too_long:,} of {len(texts):,} texts are cut to {longest} tokens (corpus.max_tokens)")
    return TextExamples.of(numbers, [each.ids for each in texts], BertTokens.beyond(vocabulary))


def _inherit(run: Run, init: Run, recipe: Recipe, labels: int, seed: int) -> Vocabulary:
    """Write the initial weights: those of a masked language model, and a new head."""
    card = init.read_card()
    vocabulary = init.read_subwords(card).target
    given = read_weights(init, card, lambda: build_bert(card, vocabulary))
    torch.manual_seed(seed)
    weights = named_weights(build_classifier(recipe, labels, vocabulary))
    inherited = {f"encoder.{name}": tensor for name, tensor in given.items()}
    assert inherited.keys() <= weights.keys(), "the recipe is that of the masked language model"
    write_atomically(run.initial_weights_file, save({**weights, **inherited}))
    return vocabulary


def _learn(texts: Sequence[str], recipe: Recipe, options: TrainOptions, show: Show) -> tuple[Vocabulary, Recipe]:
    threads = options.threads or usable_cores()
    try:
        return learn(texts, recipe.subwords, threads), recipe
    except VocabularySizeError as error:
        if "subwords.size" in options.settings:
            raise
        show.say(f"vocabulary {error.bearable:,} instead: {error.what}")
        smaller = recipe.with_settings({"subwords.size": str(error.bearable)})
        return learn(texts, smaller.subwords, threads), smaller


def prepare_pictures(run: Run, options: TrainOptions, recipe: Recipe, show: Show) -> Recipe:
    if options.init:
        raise RecipeError("--init begins with a masked language model, which reads texts, not pictures")
    train, valid = (
        [example for name in names for example in labelled_pictures(Path(name))]
        for names in (options.corpora, options.valid)
    )
    labels = _labels([label for label, _ in train])
    recipe = _with_size(recipe, [path for _, path in train])
    section = recipe.model
    assert isinstance(section, VitSection), "only ViT reads pictures"
    train, valid = _split(train, valid, [label for label, _ in train], options, show)
    scaled = 0
    for name, part in (("train", train), ("valid", valid)):
        numbers = _numbered([label for label, _ in part], labels)
        found: list[Pixels] = []
        for _, path in part:
            picture = open_picture(path)
            scaled += picture.size != (section.width, section.height)
            found.append(pixels(picture, height=section.height, width=section.width, channels=section.channels))
        PictureExamples.of(numbers, found, 1 + section.patches).save(run.data / f"{name}.safetensors")
    if scaled:
        show.say(f"{scaled:,} pictures are scaled to {section.width} x {section.height} pixels")
    _write_labels(run, labels)
    return recipe


def _with_size(recipe: Recipe, paths: Sequence[Path]) -> Recipe:
    """The recipe with the size of the pictures decided."""
    section = recipe.model
    assert isinstance(section, VitSection), "only ViT reads pictures"
    width, height = open_picture(paths[0]).size
    channels = section.channels or (1 if all(is_grey(open_picture(path)) for path in paths) else 3)
    sized = dataclasses.replace(
        section, height=section.height or height, width=section.width or width, channels=channels
    )
    if problems := sized.problems():
        raise RecipeError(
            "this recipe cannot read these pictures",
            *problems,
            "Choose another patch (--set model.patch=4), or scale them:  --set model.width=64 --set model.height=64",
        )
    return dataclasses.replace(recipe, model=sized)


def _labels(found: Sequence[str]) -> list[str]:
    labels = sorted(set(found))
    if len(labels) < 2:
        raise CorpusError(f"there are {len(found):,} examples with one label: {labels[0]}" if labels else "no examples")
    if len(labels) > MOST_LABELS:
        raise CorpusError(f"there are {len(labels):,} labels; a classifier has at most {MOST_LABELS:,}")
    return labels


def _numbered(found: Sequence[str], labels: Sequence[str]) -> list[int]:
    """The numbers of labels, all of which must have been seen in training."""
    numbers = {label: number for number, label in enumerate(labels)}
    unknown = sorted({label for label in found if label not in numbers})
    if unknown:
        raise CorpusError(
            f"the validation examples have labels that training has not: {', '.join(unknown[:5])}",
            "Every label needs an example to learn from.",
        )
    return [numbers[label] for label in found]


def _split(
    train: list[Example], valid: list[Example], labels: Sequence[str], options: TrainOptions, show: Show
) -> tuple[list[Example], list[Example]]:
    """Hold out some training examples if there are no others to validate on."""
    if not options.valid:
        held = hold_out(labels, options.seed)
        valid = [example for i, example in enumerate(train) if i in held]
        train = [example for i, example in enumerate(train) if i not in held]
    if not (train and valid):
        raise CorpusError(f"{len(train) + len(valid):,} examples are too few to train and validate on")
    show.say(f"{len(train):,} examples to train on, {len(valid):,} to validate on, {len(set(labels)):,} labels")
    return train, valid


def _write_labels(run: Run, labels: Sequence[str]) -> None:
    write_atomically(run.labels_file, json.dumps(labels, ensure_ascii=False) + "\n")
