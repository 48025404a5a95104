"""Question answering: from stories with questions (bAbI, Weston et al. 2015) to a QuestionAnswerer."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from tongsa.base.devices import choose_device
from tongsa.base.errors import CorpusError, DirectoryError, RecipeError, UsageError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.config import Recipe
from tongsa.config.presets import load_recipe
from tongsa.data.batches import ExampleOrder, Rows
from tongsa.data.stories import Question, load_questions, read_questions, read_tasks, save_questions
from tongsa.evaluation.metrics import mean_metric
from tongsa.models import build_a
from tongsa.models.loss import Loss, smoothed_cross_entropy
from tongsa.models.memory_network import MemoryNetwork, MemoryNetworkSection
from tongsa.models.weights import load_weights, read_weights
from tongsa.pages.frame import Section
from tongsa.pages.markup import escape, table
from tongsa.pages.record import TrainingRecord
from tongsa.pages.report import Subject, write_report
from tongsa.runs.card import Card, Score
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.tasks.contract import Evaluation, Objective, Task, Workers
from tongsa.tasks.story_encoding import UNKNOWN, Encoded, Lexicon, StoryBatch, encode, longest_sentence

QUESTION_ANSWERING = "qa"
DEFAULT_RECIPE = "babi"
HELD_OUT = 0.1
"""Fraction of each task's questions used for validation if no validation questions are given."""
LINEAR_START = "linear-start"
"""The schedule whose first stage leaves the softmax of the hops out (§4.1)."""
LINEAR_PATIENCE = 5
"""Validations without a lower loss that end the linear start. With 1 it ended too early (docs/memory-networks.md)."""
LINEAR_SHARE = 0.5
"""Maximum fraction of the budget for the linear start: 30 of 60 epochs."""
ROUNDING = 1e-6
"""How far a fraction of the budget may be from a whole number of epochs by rounding."""
QUESTIONS_AT_ONCE = 1000
EXAMPLES_SHOWN = 20


@dataclass(frozen=True)
class Answer:
    """A question, the network's answer, and the weight of every sentence at every hop."""

    question: Question
    text: str
    probability: float
    first: int
    """Index of the first sentence in the memory; earlier sentences of the story did not fit."""
    weights: list[list[float]]
    """Attention weights by hop, then by sentence from `first` on: p in Eq. 1."""
    empty: list[float]
    """Total weight of the empty memory slots, by hop."""

    @property
    def right(self) -> bool:
        return self.text == self.question.answer


class QuestionAnswerer:
    """The network of a run directory, with its words."""

    def __init__(self, card: Card, lexicon: Lexicon, network: MemoryNetwork) -> None:
        self.card, self.lexicon, self.network = card, lexicon, network.eval()

    @classmethod
    def load(cls, directory: str | Path, *, device: str = "auto") -> QuestionAnswerer:
        run = Run(Path(directory))
        card = run.read_card()
        if card.task != QUESTION_ANSWERING:
            raise DirectoryError(f"{directory} does not answer questions: it was trained for {card.task}")
        lexicon = read_lexicon(run, card)
        weights = read_weights(run, card, lambda: _build(card, lexicon))
        return cls.from_weights(card, lexicon, weights, device=device)

    @classmethod
    def from_weights(
        cls, card: Card, lexicon: Lexicon, weights: Mapping[str, Tensor], *, device: str = "auto"
    ) -> QuestionAnswerer:
        network = _build(card, lexicon)
        load_weights(network, weights)
        return cls(card, lexicon, network.to(choose_device(device)))

    def encode(self, questions: Sequence[Question]) -> Encoded:
        return encode(questions, self.lexicon, self.network.config)

    @torch.no_grad()
    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        encoded = self.encode(questions)
        batch = encoded.batch(torch.arange(len(encoded))).to(next(self.network.parameters()).device)
        seen: list[Tensor] = []
        logits = self.network(batch.sentences, batch.story, batch.times, batch.question, seen=seen)
        best = torch.softmax(logits, dim=-1).max(dim=-1)
        found = []
        for row, question in enumerate(questions):
            held = int(encoded.length[row])
            # The memory has the most recent sentence first; a story is read in the opposite order.
            weights = [p[row, :held].flip(0).tolist() for p in seen]
            empty = [float(p[row, held:].sum()) for p in seen]
            text, probability = self.lexicon.words[int(best.indices[row])], float(best.values[row])
            found.append(Answer(question, text, probability, len(question.story) - held, weights, empty))
        return found

    def loss(self, questions: Sequence[Question]) -> float:
        """Mean of -log p of the answers."""
        encoded = self.encode(questions)
        return measure(self.network, encoded, torch.arange(len(encoded)))[0] / len(encoded)

    def error(self, questions: Sequence[Question]) -> float:
        """Share of wrong answers."""
        encoded = self.encode(questions)
        return measure(self.network, encoded, torch.arange(len(encoded)))[1] / len(encoded)


def _build(card: Card, lexicon: Lexicon) -> MemoryNetwork:
    return build_a(MemoryNetwork, card.recipe.model, len(lexicon))


class QuestionAnswering(Task[QuestionAnswerer]):
    """Stories with questions in, an answerer out."""

    name = QUESTION_ANSWERING

    def prepare(self, run: Run, options: TrainOptions, show: Show) -> Recipe:
        recipe = load_recipe(DEFAULT_RECIPE if options.recipe == "auto" else options.recipe, options.settings)
        _check(recipe, options)
        questions = training_questions(options.corpora)
        if options.valid:
            train, valid = questions, training_questions(options.valid)
        else:
            train, valid = hold_out(questions, HELD_OUT, options.seed)
        if not (train and valid):
            raise CorpusError(f"{len(questions):,} questions are too few for training and validation")
        lexicon = Lexicon.of(questions)
        linear_share(recipe, len(train))
        show.say(f"{len(train):,} questions to train on, {len(valid):,} held out, {len(lexicon):,} words")
        save_questions(run.data / "train.jsonl", train)
        save_questions(run.data / "valid.jsonl", valid)
        write_atomically(run.words_file, json.dumps(lexicon.words, ensure_ascii=False) + "\n")
        return _with_max_words(recipe, questions)

    def open(self, run: Run, recipe: Recipe, options: TrainOptions) -> QuestionAnsweringObjective:
        train, valid = (load_questions(run.data / f"{part}.jsonl") for part in ("train", "valid"))
        return QuestionAnsweringObjective(train, valid, read_lexicon(run), recipe, options)

    def evaluate(self, run: Run, card: Card, weights: Mapping[str, Tensor], device: str) -> Evaluation:
        answerer = QuestionAnswerer.from_weights(card, read_lexicon(run), weights, device=device)
        questions = load_questions(run.data / "valid.jsonl")
        encoded = answerer.encode(questions)
        scores = _scores(*measure(answerer.network, encoded, torch.arange(len(encoded))), len(encoded))
        shown = questions[:: max(1, len(questions) // EXAMPLES_SHOWN)][:EXAMPLES_SHOWN]
        examples = [
            {
                "task": answer.question.task,
                "story": " ".join(answer.question.story),
                "question": answer.question.text,
                "reference": answer.question.answer,
                "answer": answer.text,
                "probability": answer.probability,
            }
            for answer in answerer.answer(shown)
        ]
        return Evaluation(scores=scores, examples=examples)

    def publish(self, run: Run, card: Card, evaluation: Evaluation, device: str, show: Show) -> QuestionAnswerer:
        show.say(f"wrong answers on the held-out questions: {card.scores['error'].score:.1f}%")
        answerer = QuestionAnswerer.load(run.path, device=device)
        show.say(f"report: {_write_report(run, answerer, evaluation)}")
        return answerer


class QuestionAnsweringObjective(Objective[MemoryNetwork, StoryBatch]):
    """Cross-entropy of the answers; without softmax in the hops during the linear start."""

    selects = "log_loss"
    validations_can_wait = False  # they end the linear start

    def __init__(
        self,
        train: Sequence[Question],
        valid: Sequence[Question],
        lexicon: Lexicon,
        recipe: Recipe,
        options: TrainOptions,
    ) -> None:
        section = _memory_network(recipe)
        self.recipe, self.words = recipe, len(lexicon)
        self.noise = section.noise
        self.train = encode(train, lexicon, section)
        self.valid = encode(valid, lexicon, section)
        self.examples = len(self.train)
        self.linear_start = recipe.training.schedule == LINEAR_START
        self.linear = self.linear_start
        self.linear_share = linear_share(recipe, len(self.train))
        self.order = ExampleOrder(
            examples=len(self.train),
            batch=recipe.training.batch_tokens,
            chunk=recipe.training.chunk_tokens or recipe.training.batch_tokens,
            seed=options.seed,
        )

    def build(self) -> MemoryNetwork:
        return build_a(MemoryNetwork, self.recipe.model, self.words)

    def batch(self, rows: Rows, seed: int) -> StoryBatch:
        return self.train.batch(torch.from_numpy(rows), self.noise, torch.Generator().manual_seed(seed))

    def loss(self, model: MemoryNetwork, batch: StoryBatch) -> Loss:
        logits = model(batch.sentences, batch.story, batch.times, batch.question, self.linear)
        return smoothed_cross_entropy(logits, batch.answer, self.recipe.training.label_smoothing)

    def validate(self, model: MemoryNetwork, workers: Workers) -> dict[str, Score]:
        mine = torch.arange(workers.rank, len(self.valid), workers.size)
        sums = torch.tensor([*measure(model, self.valid, mine, self.linear)], dtype=torch.float64)
        workers.sum(sums)
        return _scores(float(sums[0]), float(sums[1]), len(self.valid))

    def begin_stage(self, model: MemoryNetwork, stage: int) -> None:
        self.linear = self.linear_start and stage == 0

    def stage_ends(self, stage: int, validations_since_best: int, fraction: float) -> bool:
        if not self.linear:
            return False
        if self.linear_share:
            return fraction >= self.linear_share - ROUNDING
        return validations_since_best >= LINEAR_PATIENCE or fraction >= LINEAR_SHARE


@torch.no_grad()
def measure(network: MemoryNetwork, encoded: Encoded, rows: Tensor, linear: bool = False) -> tuple[float, float]:
    """Sums over a batch of questions: the loss (of answers in the vocabulary), and the number of wrong answers."""
    device = next(network.parameters()).device
    loss, wrong = 0.0, 0.0
    for each in encoded.batches(rows, QUESTIONS_AT_ONCE):
        batch = each.to(device)
        logits = network(batch.sentences, batch.story, batch.times, batch.question, linear)
        loss += float(cross_entropy(logits, batch.answer, ignore_index=UNKNOWN, reduction="sum"))
        wrong += float((logits.argmax(dim=1) != batch.answer).sum())
    return loss, wrong


def training_questions(names: Sequence[str]) -> list[Question]:
    """The training questions of folders with bAbI files, or of single files (qa1_..._train.txt)."""
    found = []
    for name in map(Path, names):
        if name.is_file():
            number = name.name.removeprefix("qa").partition("_")[0]
            found += list(read_questions(name, int(number) if number.isdecimal() else 0))
        else:
            found += [question for task in read_tasks(name) for question in task.train]
    return found


def hold_out(questions: Sequence[Question], share: float, seed: int) -> tuple[list[Question], list[Question]]:
    """Training and validation questions; the latter are a fixed fraction of each task, drawn with the seed."""
    generator = torch.Generator().manual_seed(seed)
    kept: list[Question] = []
    held: list[Question] = []
    for task in sorted({question.task for question in questions}):
        own = [question for question in questions if question.task == task]
        order = torch.randperm(len(own), generator=generator).tolist()
        cut = int(len(own) * share)
        held += [own[i] for i in order[:cut]]
        kept += [own[i] for i in order[cut:]]
    return kept, held


def read_lexicon(run: Run, card: Card | None = None) -> Lexicon:
    words = run.read_words(card)
    if len(set(words)) < len(words):
        raise DirectoryError(f"{run.words_file} is damaged: a word appears twice")
    return Lexicon(words)


def _write_report(run: Run, answerer: QuestionAnswerer, evaluation: Evaluation) -> Path:
    keys = ("task", "story", "question", "reference", "answer")
    rows = [[escape(each[key]) for key in keys] for each in evaluation.examples]
    section = answerer.network.config
    subject = Subject(
        kind="question answerer",
        title="Question answering",
        description=f"memory network of {section.hops} hops and width {section.d_model}",
        parameters=sum(parameter.numel() for parameter in answerer.network.parameters()),
        examples="questions",
        tokens="questions answered",
        scored="on the held-out questions",
        command=("--task", QUESTION_ANSWERING),
        sections=[Section(key="examples", title="Examples", content=table(list(keys), rows))],
    )
    return write_report(run, TrainingRecord.read(run), subject)


def _scores(loss: float, wrong: float, count: int) -> dict[str, Score]:
    return {"log_loss": mean_metric("log_loss").corpus(loss, count), "error": mean_metric("error").corpus(wrong, count)}


def _memory_network(recipe: Recipe) -> MemoryNetworkSection:
    if not isinstance(recipe.model, MemoryNetworkSection):
        raise RecipeError(
            f"the architecture {recipe.model.architecture} cannot answer questions", "Use:  --recipe babi"
        )
    return recipe.model


def linear_share(recipe: Recipe, questions: int) -> float:
    """Fraction of the updates after which the linear start ends; 0 if the validation loss decides."""
    section = _memory_network(recipe)
    epochs = recipe.training.updates / -(-questions // recipe.training.batch_tokens)
    if recipe.training.schedule == LINEAR_START and section.linear_epochs >= epochs:
        raise RecipeError(
            f"model.linear_epochs is {section.linear_epochs}, and training.updates allows only {epochs:.1f} epochs",
            "After the linear start as many epochs follow with softmax as there are updates for: set more of them.",
        )
    return section.linear_epochs / epochs


def _with_max_words(recipe: Recipe, questions: Sequence[Question]) -> Recipe:
    """The recipe with J decided: like the authors' program, which counts the time of a sentence as a word of it."""
    section = _memory_network(recipe)
    if section.encoding != "released" or section.max_words:
        return recipe
    return dataclasses.replace(recipe, model=dataclasses.replace(section, max_words=longest_sentence(questions) + 1))


def _check(recipe: Recipe, options: TrainOptions) -> None:
    _memory_network(recipe)
    if recipe.training.select not in ("", QuestionAnsweringObjective.selects):
        raise RecipeError(f"training.select is {recipe.training.select!r}; here it is always log_loss")
    given = [name for name in ("init", "mix", "subwords", "teacher") if getattr(options, name)]
    if given:
        raise UsageError(f"a question answerer cannot be trained with {', '.join(f'--{name}' for name in given)}")
