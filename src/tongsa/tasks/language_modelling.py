"""Language modelling: from plain text to a LanguageModel."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from tongsa.base.devices import usable_cores
from tongsa.base.errors import RecipeError
from tongsa.base.progress import Show
from tongsa.config import Recipe
from tongsa.config.architectures import model_class
from tongsa.config.presets import load_recipe
from tongsa.data.batches import Rows
from tongsa.data.streams import Ids, PieceOrder, Pieces, PreparedText, cut, prepare_text
from tongsa.evaluation.metrics import mean_metric
from tongsa.models import architectures_of, build_a
from tongsa.models.contracts import NO_MEMORY, Decoder, Seq2Seq
from tongsa.models.loss import Loss
from tongsa.pages.frame import Section
from tongsa.pages.markup import escape, table
from tongsa.pages.record import TrainingRecord
from tongsa.pages.report import Subject, write_report
from tongsa.runs.card import Card, Score
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.tasks.contract import (
    Evaluation,
    Objective,
    SingleWorker,
    Task,
    Workers,
    frequent_pieces,
    reduced_precision,
    refuse_what_translation_alone_has,
    token_loss,
)
from tongsa.tasks.language_model import LANGUAGE_MODEL, LanguageModel, log_loss
from tongsa.text.subwords import END, VocabularySizeError

DEFAULT_RECIPE = "lm"
SELECTS = "perplexity"
"""The metric that selects checkpoints if the recipe names none."""
METRICS_PER_TOKEN = ("log_loss", "perplexity")
METRIC_PER_WORD = "word_perplexity"

PROMPTS = 8
"""Number of held-out lines whose first halves the report continues."""
READ_FOR_PROMPTS = 20_000
"""Number of tokens at the beginning of the held-out text from which these lines are taken."""
CONTINUATION_TOKENS = 40


def write_text(run: Run, options: TrainOptions, recipe: Recipe, show: Show) -> Recipe:
    """Write the text of all corpora as ids; a vocabulary that `auto` chose too large for it is made smaller."""
    threads = options.threads or usable_cores()
    while True:
        try:
            prepare_text(
                run.path, options.corpora, options.valid, recipe, seed=options.seed, threads=threads, show=show
            )
            return recipe
        except VocabularySizeError as error:
            size = recipe.subwords.size
            if options.recipe != "auto" or "subwords.size" in options.settings or size == error.bearable:
                raise
            show.say(f"vocabulary {error.bearable:,} instead: {error.what}")
            recipe = recipe.with_settings({"subwords.size": str(error.bearable)})


class LanguageModelling(Task[LanguageModel]):
    """Plain text in, a language model out."""

    name = LANGUAGE_MODEL

    def prepare(self, run: Run, options: TrainOptions, show: Show) -> Recipe:
        refuse_what_translation_alone_has(options, "a language model")
        recipe = load_recipe(DEFAULT_RECIPE if options.recipe == "auto" else options.recipe, options.settings)
        _check(recipe)
        return write_text(run, options, recipe, show)

    def open(self, run: Run, recipe: Recipe, options: TrainOptions) -> LanguageModellingObjective:
        return LanguageModellingObjective(PreparedText.open(run.path), recipe, options)

    def evaluate(self, run: Run, card: Card, weights: Mapping[str, Tensor], device: str) -> Evaluation:
        data = PreparedText.open(run.path)
        model = LanguageModel.from_weights(card, data.vocabulary, weights, device=device)
        scores = validation_scores(model.decoder, data, card.recipe, SingleWorker())
        examples = []
        for line in _some_lines(data.valid.ids):
            prompt, rest = (data.vocabulary.decode(part) for part in (line[: len(line) // 2], line[len(line) // 2 :]))
            written = model.generate(prompt, tokens=CONTINUATION_TOKENS)[0]
            examples.append({"prompt": prompt, "continuation": written.text, "text": rest})
        return Evaluation(scores=scores, examples=examples)

    def publish(self, run: Run, card: Card, evaluation: Evaluation, device: str, show: Show) -> LanguageModel:
        for example in evaluation.examples:
            show.say(f"  {example['prompt']} > {example['continuation']}")
        per_word = card.scores[METRIC_PER_WORD].score
        show.say(f"perplexity on held-out text: {card.scores[SELECTS].score:.2f} per token, {per_word:.2f} per word")
        model = LanguageModel.load(run.path, device=device)
        show.say(f"report: {_write_report(run, model, evaluation)}")
        show.say(f"\nthe language model is {run.path}. Next:")
        show.say(f'  tongsa generate {run.path} "The beginning of a line"')
        return model


class LanguageModellingObjective(Objective[Decoder, Pieces]):
    """Cross-entropy of every token, given the tokens before it in its piece (and the model's context before that)."""

    def __init__(self, data: PreparedText, recipe: Recipe, options: TrainOptions) -> None:
        self.data, self.recipe = data, recipe
        self.examples = data.train.counts.lines
        self.validation_tokens = len(data.valid.ids)
        self.selects = _selecting_metric(recipe)
        section = recipe.training
        self.frequent = frequent_pieces(section, data.train.ids, data.vocabulary.pad)
        self.order = PieceOrder(
            tokens=len(data.train.ids),
            piece=recipe.corpus.max_tokens,
            batch_tokens=section.batch_tokens,
            chunk_tokens=section.chunk_tokens,
            seed=options.seed,
        )

    def build(self) -> Decoder:
        return build_a(Decoder, self.recipe.model, len(self.data.vocabulary))  # type: ignore[type-abstract]

    def batch(self, rows: Rows, seed: int) -> Pieces:
        context, pad = self.recipe.model.context, self.data.vocabulary.pad
        return cut(self.data.train.ids, rows, self.recipe.corpus.max_tokens, context, pad)

    def loss(self, model: Decoder, batch: Pieces) -> Loss:
        section = self.recipe.training
        with reduced_precision(section, batch.target.device):
            features = model.features(NO_MEMORY if batch.memory is None else batch.memory, batch.target)
        real = batch.labels != self.data.vocabulary.pad
        return token_loss(section, features[real], model.projection(), batch.labels[real], self.frequent)

    def validate(self, model: Decoder, workers: Workers) -> dict[str, Score]:
        return validation_scores(model, self.data, self.recipe, workers)


def validation_scores(model: Decoder, data: PreparedText, recipe: Recipe, workers: Workers) -> dict[str, Score]:
    """Perplexities on the held-out text: every token counts once, including the ends of lines."""
    sums = torch.zeros(2, dtype=torch.float64)
    total, tokens = log_loss(
        model,
        data.valid.ids,
        data.vocabulary.pad,
        recipe.corpus.max_tokens,
        recipe.model.context,
        share=(workers.rank, workers.size),
    )
    sums += torch.tensor([total, tokens], dtype=torch.float64)
    workers.sum(sums)
    scores = {name: mean_metric(name).corpus(float(sums[0]), int(sums[1])) for name in METRICS_PER_TOKEN}
    scores[METRIC_PER_WORD] = mean_metric(METRIC_PER_WORD).corpus(float(sums[0]), data.valid.counts.words)
    return scores


def _some_lines(ids: Ids) -> list[list[int]]:
    """Lines spread over the beginning of a text, without their ends."""
    read = ids[:READ_FOR_PROMPTS].astype(np.int64)
    lines = [line.tolist() for line in np.split(read, np.flatnonzero(read == END) + 1)]
    whole = [line[:-1] for line in lines if len(line) > 2 and line[-1] == END]
    return whole[:: max(1, len(whole) // PROMPTS)][:PROMPTS]


def _write_report(run: Run, model: LanguageModel, evaluation: Evaluation) -> Path:
    rows = [[escape(each[key]) for key in ("prompt", "continuation", "text")] for each in evaluation.examples]
    shown = table(["prompt", "continued by the model", "continued in the text"], rows)
    section = model.card.recipe.model
    subject = Subject(
        kind="language model",
        title="Language model",
        description=f"{section.architecture} of width {section.d_model:,}, {len(model.vocabulary):,} subwords",
        parameters=sum(parameter.numel() for parameter in model.decoder.parameters()),
        examples="lines",
        scored="on every token of the held-out text",
        command=("--task", LANGUAGE_MODEL),
        sections=[Section(key="examples", title="Examples", note="greedy search", content=shown)],
    )
    return write_report(run, TrainingRecord.read(run), subject)


def _selecting_metric(recipe: Recipe) -> str:
    name = recipe.training.select or SELECTS
    known = (*METRICS_PER_TOKEN, METRIC_PER_WORD)
    if name not in known:
        raise RecipeError(f"training.select is {name!r}; a language model is selected by {', '.join(known)}")
    return name


def _check(recipe: Recipe) -> None:
    _selecting_metric(recipe)
    problems = []
    kind = model_class(recipe.model.architecture)
    if not issubclass(kind, Decoder) or issubclass(kind, Seq2Seq):
        known = [name for name in architectures_of(Decoder) if name not in architectures_of(Seq2Seq)]
        problems.append(
            f"{recipe.model.architecture} is not a language model: model.architecture can be {', '.join(known)}"
        )
    if recipe.subwords.sampling:
        problems.append("subwords.sampling re-segments sentences, but a language model reads one stream: set it to 0")
    longest, piece = recipe.model.longest, recipe.corpus.max_tokens
    if longest is not None and longest < piece:
        problems.append(f"model.max_positions {longest} must be at least corpus.max_tokens {piece}, the piece length")
    if problems:
        raise RecipeError("this recipe cannot train a language model", *problems)
