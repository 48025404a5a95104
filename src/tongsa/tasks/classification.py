"""Classification: from labelled texts or pictures to a Classifier.

Texts are read by BERT (Devlin et al. 2019, §4.1), which `--init` gives the weights that masked language modelling
learnt; pictures by ViT (Dosovitskiy et al. 2021).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tongsa.base.errors import RecipeError, UsageError
from tongsa.base.progress import Show
from tongsa.config import Recipe, merge, parse_settings
from tongsa.config.presets import load_recipe
from tongsa.data.batches import ExampleOrder, Rows
from tongsa.data.labelled import Examples, LabelledBatch, PictureExamples, TextExamples, shifted
from tongsa.data.masking import BertTokens
from tongsa.evaluation.labels import Confusion
from tongsa.evaluation.metrics import mean_metric
from tongsa.models.bert import BertSection
from tongsa.models.classifier import EncoderWithHead
from tongsa.models.loss import Loss, smoothed_cross_entropy
from tongsa.models.vit import VitSection
from tongsa.pages.frame import Section
from tongsa.pages.labels import attention_section, confusion_section
from tongsa.pages.record import TrainingRecord
from tongsa.pages.report import Subject, write_report
from tongsa.runs.card import Card, Score
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.tasks.classifier import CLASSIFICATION, Classifier, build_classifier, reads_pictures
from tongsa.tasks.contract import Evaluation, Objective, SingleWorker, Task, Workers, reduced_precision
from tongsa.tasks.labelling import prepare_pictures, prepare_texts
from tongsa.tasks.masked_language_model import MASKED_LANGUAGE_MODEL
from tongsa.text.subwords import Subwords, Vocabulary

RECIPES = {"texts": "classify", "pictures": "vit"}
SELECTS = "accuracy"
SCORED = ("accuracy", "log_loss")
AT_ONCE = 64
SHOWN = 24
"""Pictures whose attention the report draws."""

SETTINGS: dict[str, Any] = {
    "batch_tokens": 32,
    "chunk_tokens": 32,
    "processes": 1,
    "optimizer": "adam",
    "schedule": "cosine",
    "peak": 0.001,
    "warmup": 50,
    "updates": 600,
    "validate_every": 0,
}
"""Changes to [training] with `--init`: BERT's batch (A.3) and few steps, since the weights are already good."""


class Classification(Task[Classifier]):
    """Labelled texts or pictures in, a classifier out."""

    name = CLASSIFICATION

    def prepare(self, run: Run, options: TrainOptions, show: Show) -> Recipe:
        given = [name for name in ("mix", "subwords", "teacher") if getattr(options, name)]
        if given:
            raise UsageError(f"a classifier cannot be trained with {', '.join(f'--{name}' for name in given)}")
        recipe = _recipe(options)
        if reads_pictures(recipe):
            return prepare_pictures(run, options, recipe, show)
        return prepare_texts(run, options, recipe, show)

    def open(self, run: Run, recipe: Recipe, options: TrainOptions) -> ClassificationObjective:
        return ClassificationObjective(run, recipe, options)

    def evaluate(self, run: Run, card: Card, weights: Mapping[str, Tensor], device: str) -> Evaluation:
        objective = self.open(run, card.recipe, TrainOptions(corpora=()))
        classifier = Classifier.from_weights(card, objective.labels, objective.vocabulary, weights, device=device)
        scores = objective.validate(classifier.model, SingleWorker())
        found = classifier.label(objective.valid)
        right = [objective.labels[label] for label in objective.valid.labels]
        examples = [
            {"label": label, "given": each.name, "probability": round(each.probability, 4)}
            for label, each in zip(right, found, strict=True)
        ]
        return Evaluation(scores=scores, examples=examples)

    def publish(self, run: Run, card: Card, evaluation: Evaluation, device: str, show: Show) -> Classifier:
        classifier = Classifier.load(run.path, device=device)
        columns = ([each[key] for each in evaluation.examples] for key in ("label", "given"))
        confusion = Confusion.of(classifier.labels, *columns)
        show.say(confusion.as_text())
        valid = self.open(run, card.recipe, TrainOptions(corpora=())).valid
        show.say(f"report: {_write_report(run, classifier, confusion, valid)}")
        show.say(f"\nthe classifier is {run.path}. Next:")
        what = "PICTURE.png" if reads_pictures(card.recipe) else "< TEXT"
        show.say(f"  tongsa classify {run.path} {what}")
        return classifier


class ClassificationObjective(Objective[EncoderWithHead, LabelledBatch]):
    """Cross-entropy of the labels."""

    def __init__(self, run: Run, recipe: Recipe, options: TrainOptions) -> None:
        self.recipe = recipe
        self.labels = run.read_labels()
        self.vocabulary = None if reads_pictures(recipe) else Subwords.load(run.path).target
        self.train = open_examples(run.data / "train.safetensors", recipe, self.vocabulary)
        self.valid = open_examples(run.data / "valid.safetensors", recipe, self.vocabulary)
        self.examples = len(self.train)
        self.validation_tokens = len(self.valid)
        self.selects = recipe.training.select or SELECTS
        section = recipe.training
        self.order = ExampleOrder(
            examples=self.examples,
            batch=section.batch_tokens,
            chunk=section.chunk_tokens or section.batch_tokens,
            seed=options.seed,
        )

    def build(self) -> EncoderWithHead:
        return build_classifier(self.recipe, len(self.labels), self.vocabulary)

    def batch(self, rows: Rows, seed: int) -> LabelledBatch:
        batch, section = self.train.batch(rows), self.recipe.model
        if isinstance(section, VitSection) and section.shift:
            source = shifted(batch.source, section.shift, torch.Generator().manual_seed(seed))
            return batch._replace(source=source)
        return batch

    def loss(self, model: EncoderWithHead, batch: LabelledBatch) -> Loss:
        section = self.recipe.training
        with reduced_precision(section, batch.source.device):
            logits = model(batch.source, batch.mask)
        return smoothed_cross_entropy(logits.float(), batch.labels, section.label_smoothing)

    @torch.no_grad()
    def validate(self, model: EncoderWithHead, workers: Workers) -> dict[str, Score]:
        device = next(model.parameters()).device
        sums = torch.zeros(2, dtype=torch.float64)  # right labels, -log p
        mine = np.arange(workers.rank, len(self.valid), workers.size)
        for rows in np.array_split(mine, -(-len(mine) // AT_ONCE)) if len(mine) else []:
            batch = self.valid.batch(rows).to(device)
            logits = model(batch.source, batch.mask)
            sums[0] += int((logits.argmax(dim=-1) == batch.labels).sum())
            sums[1] += float(smoothed_cross_entropy(logits, batch.labels, 0.0).log_loss)
        workers.sum(sums)
        totals = zip(SCORED, sums.tolist(), strict=True)
        return {name: mean_metric(name).corpus(total, len(self.valid)) for name, total in totals}


def open_examples(path: Path, recipe: Recipe, vocabulary: Vocabulary | None) -> Examples:
    if isinstance(recipe.model, VitSection):
        return PictureExamples.open(path, 1 + recipe.model.patches)
    assert vocabulary is not None, "texts have subwords"
    return TextExamples.open(path, BertTokens.beyond(vocabulary))


def _recipe(options: TrainOptions) -> Recipe:
    if options.init:
        recipe = _inherited_recipe(Run(Path(options.init)), options.settings)
    else:
        kind = "pictures" if all(Path(name).is_dir() for name in options.corpora) else "texts"
        recipe = load_recipe(RECIPES[kind] if options.recipe == "auto" else options.recipe, options.settings)
    problems = []
    if not isinstance(recipe.model, BertSection | VitSection):
        problems.append(f"model.architecture is {recipe.model.architecture}; it can be bert (texts) or vit (pictures)")
    if recipe.training.select not in ("", *SCORED):
        problems.append(f"training.select is {recipe.training.select!r}; it can be {', '.join(SCORED)}")
    length, longest = recipe.corpus.max_tokens, recipe.model.longest
    if isinstance(recipe.model, BertSection) and (length < 3 or (longest is not None and longest < length)):
        problems.append(f"corpus.max_tokens is {length}; it must be from 3 to model.max_positions ({longest})")
    if problems:
        raise RecipeError("this recipe cannot train a classifier", *problems)
    return recipe


def _inherited_recipe(init: Run, settings: Mapping[str, str]) -> Recipe:
    card = init.read_card()
    if card.task != MASKED_LANGUAGE_MODEL:
        raise UsageError(
            f"{init.path} was trained for {card.task}; a classifier begins with a masked language model",
            f"To train one:  tongsa train --task {MASKED_LANGUAGE_MODEL} TEXT --out DIR",
        )
    length = card.recipe.corpus.max_tokens
    if card.recipe.model.longest is None:  # any number of positions: texts may be longer than the pieces it learnt from
        length = max(length, load_recipe(RECIPES["texts"], {}).corpus.max_tokens)
    values = merge(card.recipe.to_values(), {"corpus": {"max_tokens": length}, "training": SETTINGS})
    recipe = Recipe.from_values(merge(values, parse_settings(settings)), "the settings for classification")
    before, now = card.recipe.model, recipe.model
    assert isinstance(before, BertSection), "masked language models are of this kind"
    if not isinstance(now, BertSection) or before != dataclasses.replace(
        now, dropout=before.dropout, pooling=before.pooling
    ):
        raise UsageError(f"--init keeps the model of {init.path}", "In [model] only dropout and pooling can change.")
    return recipe


def _write_report(run: Run, classifier: Classifier, confusion: Confusion, valid: Examples) -> Path:
    section = classifier.card.recipe.model
    sections: list[Section] = [confusion_section(confusion)]
    if isinstance(valid, PictureExamples):
        some = dataclasses.replace(valid, labels=valid.labels[:SHOWN], pictures=valid.pictures[:SHOWN])
        titles = [
            f"{given.name} {given.probability:.2f} ({classifier.labels[right]})"
            for given, right in zip(classifier.label(some), some.labels, strict=True)
        ]
        shown = list(some.pictures)
        sections.append(attention_section(shown, classifier.attention(shown), titles))
    subject = Subject(
        kind="classifier",
        title="Classifier",
        description=f"{section.architecture} of width {section.d_model:,}, {len(classifier.labels):,} labels",
        parameters=sum(parameter.numel() for parameter in classifier.model.parameters()),
        examples="labelled examples",
        tokens="labels",
        scored="on the validation examples",
        command=("--task", CLASSIFICATION),
        sections=sections,
    )
    return write_report(run, TrainingRecord.read(run), subject)
