"""Small trainings on a built-in grammar: variants of one small Transformer, each with several seeds.

FOLDER/text/NAME/          pairs of the grammar (demo/animals.py) as subwords and ids, prepared once for all variants
    trainings/NAME.SEED/   a run directory each: its checkpoint and its result.json

A training with a result is not done again, so questions share those that they have in common. Several processes train
the grid at the same time, one on each core.
"""

from __future__ import annotations

import dataclasses
import json
import math
import multiprocessing
import shutil
import statistics
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import torch

from tongsa.base.errors import TrainingError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show, Silent
from tongsa.config import Recipe
from tongsa.config.recipe import parse_settings
from tongsa.data.prepare import Prepared, PrepareSettings, prepare_pairs
from tongsa.data.spill import spilled
from tongsa.demo import animals
from tongsa.demo.grammar import corpus
from tongsa.formats.pairs import Reading, open_corpus
from tongsa.lab.grid import Cell, cells, consecutive, run_grid, waiting_for
from tongsa.lab.question import Effort, Lab, Values
from tongsa.lab.trained import Trained
from tongsa.models.weights import build_model, load_weights, named_weights
from tongsa.runs.card import Score
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.tasks.contract import SingleWorker
from tongsa.training.checkpoint import latest, save_checkpoint
from tongsa.training.loop import Callbacks, Step, Trainer
from tongsa.training.run import share_prepared
from tongsa.training.workers import ProcessGroup

Settings = Mapping[str, str]
"""What a variant changes in the small model's recipe: {"model.heads": "1"}."""

BASE: dict[str, str] = {
    "model.d_model": "64",
    "model.d_ff": "256",
    "model.heads": "4",
    "model.encoder_layers": "2",
    "model.decoder_layers": "2",
    "model.dropout": "0.05",
    "subwords.byte_fallback": "false",
    "training.batch_tokens": "400",
    "training.processes": "1",
    "training.peak": "0.004",
    "training.warmup": "80",
    "training.average": "1",
}
"""The small model, trained as the paper trains (post-norm, Eq. 3 scaled to a peak, label smoothing 0.1).

There are no pieces for bytes, which would be more than half of the vocabulary."""

TRANSFORMER_ONLY = ("model.d_ff", "model.heads", "model.encoder_layers", "model.decoder_layers")

RESULT = "result.json"
WORST_PERPLEXITY = 1e6
CURVE_POINTS = 30


@dataclass(frozen=True, kw_only=True)
class Text:
    """Pairs of the built-in grammar, Korean to English."""

    name: str = "all"
    longest: int = 0
    """Words of the longest Korean sentence to train on (0: any)."""
    added: tuple[tuple[str, str], ...] = ()
    """Pairs to train on besides those of the grammar, each `times` times."""
    times: int = 1


Look = Callable[[Trained], Values]
"""Measures something more of a trained model; a function of a module, because other processes call it."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is trained; it is sent to the processes that train it."""

    folder: Path
    effort: Effort
    variants: Mapping[str, Settings]
    seeds: tuple[int, ...]
    text: Text
    look: Look | None
    look_name: str
    show: Show

    @property
    def prepared(self) -> Path:
        return self.folder / "text" / f"{self.text.name}.{self.effort.pairs}.{self.effort.subwords}"

    def directory(self, cell: Cell) -> Path:
        return self.folder / "trainings" / f"{cell.row}.{self.text.name}.{cell.seed}"

    def recipe(self, row: str) -> Recipe:
        return small_recipe(self.variants[row], self.effort)

    def identity(self, cell: Cell) -> Values:
        """What a result depends on."""
        return {
            "recipe": self.recipe(cell.row).to_toml(),
            "text": [self.text.name, self.text.longest, self.text.times, *map(list, self.text.added)],
            "pairs": [self.effort.pairs, self.effort.held_out],
        }


def small_recipe(changes: Settings, effort: Effort) -> Recipe:
    """The recipe of the small model with these changes."""
    updates = str(effort.updates)
    settings = {**BASE, "subwords.size": str(effort.subwords)}
    settings |= {"training.updates": updates, "training.validate_every": updates}
    if "model.architecture" in changes:  # it has keys of its own
        settings = {key: value for key, value in settings.items() if key not in TRANSFORMER_ONLY}
    return Recipe.from_values(parse_settings({**settings, **changes}), "a variant of the lab")


def train_variants(
    lab: Lab, variants: Mapping[str, Settings], *, text: Text | None = None, look: Look | None = None
) -> dict[str, list[Values]]:
    """Train every variant with every seed; return for each variant what was measured, seed by seed:

    perplexity  of the held-out targets
    bleu        of greedy translations of the held-out sources
    right       translations equal to the reference, in percent
    diverged    whether the gradient became infinite, so that the training ended early
    curve       [update, loss] while training
    and what `look` measured
    """
    plan = Plan(
        folder=lab.folder,
        effort=lab.effort,
        variants={name: dict(settings) for name, settings in variants.items()},
        seeds=consecutive(1, lab.seeds),
        text=text or Text(),
        look=look,
        look_name=f"{look.__module__}.{look.__name__}" if look else "",
        show=lab.show,
    )
    _prepare(plan)
    others = min(lab.threads, len(variants) * lab.seeds) - 1
    with ExitStack() as stack:
        for _ in range(others):
            stack.enter_context(_another_process(dataclasses.replace(plan, show=Silent())))
        _train_grid(plan)
    found = _train_grid(dataclasses.replace(plan, show=Silent()))  # with what the other processes have trained
    if sum(map(len, found.values())) < len(variants) * lab.seeds:
        raise TrainingError(f"another process trains in {lab.folder}", "Wait until it has ended, and ask again.")
    return found


class _another_process:
    """Trains the same grid in another process until the block ends."""

    def __init__(self, plan: Plan) -> None:
        self.process = multiprocessing.get_context("spawn").Process(target=_train_grid, args=(plan,), daemon=True)

    def __enter__(self) -> None:
        self.process.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.process.terminate()
        self.process.join()


def _train_grid(plan: Plan) -> dict[str, list[Values]]:
    torch.set_num_threads(1)
    results = run_grid(
        cells(list(plan.variants), plan.seeds),
        stored=lambda cell: _stored(plan, cell),
        run=lambda cell: _train(plan, cell),
        locks=plan.folder / "locks",
        show=plan.show,
    )
    if results.failed:
        raise TrainingError(
            "a small training failed", *(f"{cell.label}: {why}" for cell, why in results.failed.items())
        )
    return {name: list(found.values()) for name, found in results.by_row().items()}


def _prepare(plan: Plan) -> None:
    """Write the text and its ids, unless the same text was prepared before."""
    done = plan.prepared / "data" / "complete.json"
    texts = _texts(plan)
    with waiting_for(plan.folder / "locks" / f"{plan.prepared.name}.lock", "preparing the text", plan.show):
        if done.is_file() and all(_holds(plan.prepared / name, text) for name, text in texts.items()):
            return
        shutil.rmtree(plan.prepared, ignore_errors=True)
        for name, text in texts.items():
            write_atomically(plan.prepared / name, text)
        recipe = small_recipe({}, plan.effort)
        training, held_out = (
            open_corpus([str(plan.prepared / name)], Reading(source="ko", target="en")) for name in ("train", "valid")
        )
        with spilled(training, recipe.corpus, seed=1, folder=plan.prepared / "data", show=Silent()) as spill:
            prepare_pairs(spill, held_out, PrepareSettings(directory=plan.prepared, recipe=recipe, threads=1))
        write_atomically(done, "{}\n")


def _texts(plan: Plan) -> dict[str, str]:
    """The files of the training and the held-out pairs, by name."""
    written = plan.effort.pairs * (4 if plan.text.longest else 1)
    train, valid, _ = corpus(written, plan.effort.held_out, 0, seed=1, patterns=animals.PATTERNS)
    if plan.text.longest:
        train = [pair for pair in train if len(pair[0].split()) <= plan.text.longest][: plan.effort.pairs]
    train += plan.text.added * plan.text.times
    return {
        f"{name}.{language}": "".join(pair[side] + "\n" for pair in pairs)
        for name, pairs in {"train": train, "valid": valid}.items()
        for side, language in enumerate(("ko", "en"))
    }


def _holds(file: Path, text: str) -> bool:
    try:
        return file.read_text(encoding="utf-8") == text
    except (OSError, ValueError):
        return False


def _kept(plan: Plan, cell: Cell) -> Values | None:
    """What is known of an earlier training with the same recipe and text."""
    try:
        kept: Values = json.loads((plan.directory(cell) / RESULT).read_text(encoding="utf-8"))
        return kept if kept["of"] == plan.identity(cell) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _stored(plan: Plan, cell: Cell) -> Values | None:
    """The result of a cell, if everything that is asked for was measured."""
    kept = _kept(plan, cell)
    if kept is None or (plan.look and plan.look_name not in kept["looks"]):
        return None
    return {**kept["scores"], **kept["looks"].get(plan.look_name, {})}


def _train(plan: Plan, cell: Cell) -> Values:
    """Train a cell, or only look at what was trained before."""
    run = Run(plan.directory(cell))
    kept = _kept(plan, cell)
    if kept is None:
        kept = {"of": plan.identity(cell), "scores": _fit(plan, cell, run), "looks": {}}
    if plan.look:
        kept["looks"][plan.look_name] = plan.look(_trained(run, cell.seed))
    write_atomically(run.path / RESULT, json.dumps(kept) + "\n")
    return {**kept["scores"], **kept["looks"].get(plan.look_name, {})}


def _fit(plan: Plan, cell: Cell, run: Run) -> Values:
    options = TrainOptions(corpora=("the built-in grammar",), source="ko", target="en", seed=cell.seed, threads=1)
    share_prepared(Run(plan.prepared), run, plan.recipe(cell.row), dataclasses.replace(options, device="cpu"))
    trainer = Trainer(run, *run.read_job(), ProcessGroup())
    steps: list[Step] = []
    validations: list[Mapping[str, Score]] = []
    diverged = False
    try:
        trainer.run(
            Callbacks(
                on_update=lambda step, progress: steps.append(step),
                on_validation=lambda scores, progress: validations.append(scores),
            )
        )
    except TrainingError:  # the gradient is not finite: an answer too
        diverged = True
        save_checkpoint(run.checkpoints, named_weights(trainer.model), trainer.optimizer.state(), trainer.progress)
    if diverged or not validations:  # none, if it was interrupted after the last update
        validations.append(trainer.objective.validate(trainer.model.eval(), SingleWorker()))
    scores = validations[-1]
    trained = _trained(run, cell.seed)
    perplexity = scores["perplexity"].score
    every = max(1, math.ceil(len(steps) / CURVE_POINTS))
    return {
        "perplexity": perplexity if perplexity < WORST_PERPLEXITY else WORST_PERPLEXITY,
        "bleu": scores["bleu"].score,
        "right": trained.right(trained.pairs),
        "diverged": diverged,
        "parameters": sum(parameter.numel() for parameter in trainer.model.parameters()),
        "curve": [
            [first + every / 2, statistics.fmean(step.log_loss for step in steps[first : first + every])]
            for first in range(0, len(steps), every)
        ],
    }


def _trained(run: Run, seed: int) -> Trained:
    data = Prepared.open(run.path)
    recipe, _ = run.read_job()
    checkpoint = latest(run.checkpoints)
    assert checkpoint is not None, "the training ended with one"
    model = build_model(recipe.model, data.subwords)
    load_weights(model, checkpoint.weights())
    torch.manual_seed(seed)
    return Trained(model=model.eval(), subwords=data.subwords, pairs=data.valid_text)
