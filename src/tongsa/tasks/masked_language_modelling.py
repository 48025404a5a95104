"""Masked language modelling: from plain text to a MaskedLanguageModel (Devlin et al. 2019, §3.1).

What differs from language modelling (tasks/language_modelling.py) is what is read and what is predicted: all tokens are
seen at once, 15% of them are masked, and only these are predicted.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from tongsa.base.errors import RecipeError
from tongsa.base.progress import Show
from tongsa.config import Recipe
from tongsa.config.presets import load_recipe
from tongsa.data.batches import Rows
from tongsa.data.masking import SHARE, BertTokens, Masked, mask_tokens
from tongsa.data.streams import PieceOrder, PreparedText, cut
from tongsa.evaluation.metrics import mean_metric
from tongsa.models import build_a
from tongsa.models.bert import Bert, BertSection
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
from tongsa.tasks.language_modelling import write_text
from tongsa.tasks.masked_language_model import MASK, MASKED_LANGUAGE_MODEL, MaskedLanguageModel

DEFAULT_RECIPE = "mlm"
SELECTS = "log_loss"
SCORED = ("log_loss", "perplexity", "accuracy")
PIECES_AT_ONCE = 32
EXAMPLES = 8
EXAMPLE_TOKENS, READ_FOR_EXAMPLES = 24, 2_000


class MaskedLanguageModelling(Task[MaskedLanguageModel]):
    """Plain text in, a masked language model out."""

    name = MASKED_LANGUAGE_MODEL

    def prepare(self, run: Run, options: TrainOptions, show: Show) -> Recipe:
        refuse_what_translation_alone_has(options, "a masked language model")
        recipe = load_recipe(DEFAULT_RECIPE if options.recipe == "auto" else options.recipe, options.settings)
        _check(recipe)
        return write_text(run, options, recipe, show)

    def open(self, run: Run, recipe: Recipe, options: TrainOptions) -> MaskedLanguageModellingObjective:
        return MaskedLanguageModellingObjective(PreparedText.open(run.path), recipe, options)

    def evaluate(self, run: Run, card: Card, weights: Mapping[str, Tensor], device: str) -> Evaluation:
        data = PreparedText.open(run.path)
        model = MaskedLanguageModel.from_weights(card, data.vocabulary, weights, device=device)
        scores = validation_scores(model.model, data, card.recipe, SingleWorker())
        return Evaluation(scores=scores, examples=_examples(model, data))

    def publish(self, run: Run, card: Card, evaluation: Evaluation, device: str, show: Show) -> MaskedLanguageModel:
        shown = ", ".join(mean_metric(name).title + f" {card.scores[name].score:.2f}" for name in SCORED)
        show.say(f"masked tokens of the held-out text: {shown}")
        model = MaskedLanguageModel.load(run.path, device=device)
        show.say(f"report: {_write_report(run, model, evaluation)}")
        show.say(f"\nthe masked language model is {run.path}. Next:")
        show.say(f"  tongsa train --task classify LABELLED.tsv --init {run.path} --out DIR")
        return model


class MaskedLanguageModellingObjective(Objective[Bert, Masked]):
    """Cross-entropy of the masked tokens of pieces of text, each piece after a [CLS]."""

    def __init__(self, data: PreparedText, recipe: Recipe, options: TrainOptions) -> None:
        self.data, self.recipe = data, recipe
        self.tokens = BertTokens.beyond(data.vocabulary)
        self.examples = data.train.counts.lines
        self.validation_tokens = round(SHARE * len(data.valid.ids))
        self.selects = recipe.training.select or SELECTS
        section = recipe.training
        self.frequent = frequent_pieces(section, data.train.ids, self.tokens.pad)
        self.order = PieceOrder(
            tokens=len(data.train.ids),
            piece=_piece(recipe),
            batch_tokens=section.batch_tokens,
            chunk_tokens=section.chunk_tokens,
            seed=options.seed,
        )

    def build(self) -> Bert:
        return build_a(Bert, self.recipe.model, self.tokens.size)

    def batch(self, rows: Rows, seed: int) -> Masked:
        pieces = cut(self.data.train.ids, rows, _piece(self.recipe), 0, self.tokens.pad).labels
        return mask_tokens(pieces, self.tokens, torch.Generator().manual_seed(seed))

    def loss(self, model: Bert, batch: Masked) -> Loss:
        section = self.recipe.training
        with reduced_precision(section, batch.source.device):
            features = model.features(model.encode(batch.source, batch.mask)[batch.chosen])
        labels = batch.labels[batch.chosen]
        return token_loss(section, features, model.projection(), labels, self.frequent)

    def validate(self, model: Bert, workers: Workers) -> dict[str, Score]:
        return validation_scores(model, self.data, self.recipe, workers)


@torch.no_grad()
def validation_scores(model: Bert, data: PreparedText, recipe: Recipe, workers: Workers) -> dict[str, Score]:
    """Loss and accuracy on the held-out text, whose masks are the same every time."""
    tokens, piece = BertTokens.beyond(data.vocabulary), _piece(recipe)
    device = next(model.parameters()).device
    starts = np.arange(0, len(data.valid.ids), piece)
    sums = torch.zeros(3, dtype=torch.float64)  # -log p, right tokens, all tokens
    for number, first in enumerate(range(0, len(starts), PIECES_AT_ONCE)):
        if number % workers.size != workers.rank:
            continue
        pieces = cut(data.valid.ids, starts[first : first + PIECES_AT_ONCE], piece, 0, tokens.pad).labels
        batch = mask_tokens(pieces, tokens, torch.Generator().manual_seed(number)).to(device)
        features = model.features(model.encode(batch.source, batch.mask)[batch.chosen])
        labels = batch.labels[batch.chosen]
        log_p = torch.log_softmax(features @ model.projection()[:-1].T, dim=-1)
        right = (log_p.argmax(dim=-1) == labels).sum()
        sums += torch.stack([-log_p.gather(1, labels[:, None]).sum(), right, torch.tensor(len(labels))]).double().cpu()
    workers.sum(sums)
    loss, right_tokens, count = sums.tolist()
    totals = {"log_loss": loss, "perplexity": loss, "accuracy": right_tokens}
    return {name: mean_metric(name).corpus(total, int(count)) for name, total in totals.items()}


def _examples(model: MaskedLanguageModel, data: PreparedText) -> list[dict[str, str]]:
    """Words of the held-out text, each masked in the middle of a few others."""
    found: list[dict[str, str]] = []
    ids, length = data.valid.ids[:READ_FOR_EXAMPLES].astype(np.int64), min(EXAMPLE_TOKENS, _piece(model.card.recipe))
    for text in data.vocabulary.decode_many([ids[i : i + length].tolist() for i in range(0, len(ids), length)]):
        words = text.split()[1:-1]  # a piece may begin and end inside a word
        if len(words) < 3 or len(found) == EXAMPLES:
            continue
        middle = len(words) // 2
        masked = " ".join([*words[:middle], MASK, *words[middle + 1 :]])
        (best,) = model.fill(masked, 3)
        guesses = ", ".join(f"{each.piece.replace('▁', ' ').strip()} {each.probability:.2f}" for each in best)
        found.append({"text": masked, "word": words[middle], "guesses": guesses})
    return found


def _write_report(run: Run, model: MaskedLanguageModel, evaluation: Evaluation) -> Path:
    rows = [[escape(each[key]) for key in ("text", "word", "guesses")] for each in evaluation.examples]
    section = model.model.config
    subject = Subject(
        kind="masked language model",
        title="Masked language model",
        description=f"BERT, {section.layers} layers of width {section.d_model:,}, {len(model.vocabulary):,} subwords",
        parameters=sum(parameter.numel() for parameter in model.model.parameters()),
        examples="lines",
        tokens="masked tokens",
        scored="on the masked tokens of the held-out text",
        command=("--task", MASKED_LANGUAGE_MODEL),
        sections=[Section(key="examples", title="Examples", content=table(["text", "word", "guesses"], rows))],
    )
    return write_report(run, TrainingRecord.read(run), subject)


def _piece(recipe: Recipe) -> int:
    """Tokens of a piece after its [CLS]."""
    return recipe.corpus.max_tokens - 1


def _check(recipe: Recipe) -> None:
    problems = []
    if not isinstance(recipe.model, BertSection):
        problems.append(f"model.architecture is {recipe.model.architecture}; it must be bert")
    if recipe.subwords.sampling:
        problems.append("subwords.sampling re-segments sentences, but the text is read as one stream: set it to 0")
    if recipe.training.select not in ("", *SCORED):
        problems.append(f"training.select is {recipe.training.select!r}; it can be {', '.join(SCORED)}")
    length, longest = recipe.corpus.max_tokens, recipe.model.longest
    if length < 2 or (longest is not None and longest < length):
        problems.append(f"corpus.max_tokens is {length}; it must be from 2 to model.max_positions ({longest})")
    if problems:
        raise RecipeError("this recipe cannot train a masked language model", *problems)
