"""The rungs of a search for a recipe: how long they are, how a candidate is trained in them, how it is judged."""

from __future__ import annotations

import dataclasses
import itertools
import time
from typing import Any

import torch
from torch import nn

from tongsa.base.devices import usable_cores
from tongsa.config import Recipe
from tongsa.config.schedules import FALLING
from tongsa.models.weights import load_weights
from tongsa.pages.curves import points, thinned
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.runs.tune import Candidate, TuneRecord, half
from tongsa.tasks import TASKS
from tongsa.tasks.contract import Objective, SingleWorker
from tongsa.training.candidates import peak
from tongsa.training.checkpoint import latest

SHARE = 0.5
"""Share of the budget for the search; the rest is for the training with the chosen recipe."""

LEAST_FINAL = 0.25
"""Share of a budget in minutes that the training with the chosen recipe has at least, however long the search took."""

LEAST_STEP = 0.1
"""Share of its planned length that a rung of a search that is late has at least."""

SAVES = 4
"""Checkpoints of a candidate in each rung, if the budget is in updates."""

CURVE_POINTS = 60


def takers(count: int) -> list[int]:
    """How many candidates take part in each rung: 8, 4, 2."""
    found = []
    while count > 1:
        found.append(count)
        count = half(count)
    return found


def cost(count: int) -> int:
    """What a search takes, in lengths of its first rung. Each rung goes on to twice the length of the one before."""
    return sum(taking * (2 ** (rung - 1) if rung else 1) for rung, taking in enumerate(takers(count)))


def first_length(count: int, budget: float) -> float:
    """Length of the first rung in the unit of the budget."""
    return SHARE * budget / cost(count)


def lengths(first: float, count: int) -> tuple[float, ...]:
    """How far a candidate is trained by the end of each rung."""
    return tuple(first * 2**rung for rung in range(len(takers(count))))


def trainings(count: int) -> int:
    """How many times a search starts and judges a candidate."""
    return sum(takers(count))


def fitted(record: TuneRecord, rung: int) -> tuple[float, ...]:
    """The lengths of the rungs of a search by minutes, shortened from this rung on if the time is running out.

    What starting and judging candidates has taken so far tells what it will take.
    """
    assert record.minutes is not None, "a budget in updates does not run out"
    before, planned = record.lengths[rung - 1], record.lengths
    taking = takers(record.count)[rung:]
    each = record.overhead / max(1, sum(len(candidate.losses) for candidate in record.candidates))
    available = SHARE * 60 * record.minutes - record.used - each * sum(taking)
    steps = [after - start for start, after in itertools.pairwise(planned[rung - 1 :])]
    needed = sum(number * step for number, step in zip(taking, steps, strict=True))
    share = min(1.0, max(LEAST_STEP, available / needed))
    return (*planned[:rung], *(before + share * (length - before) for length in planned[rung:]))


def same_tokens(updates: float, before: Recipe, after: Recipe) -> int:
    """Updates of a recipe with other batches that see as many tokens as these of the recipe before."""
    return max(1, round(updates * before.training.batch_tokens / after.training.batch_tokens))


def rung_recipe(recipe: Recipe, updates: int | None) -> Recipe:
    """The recipe of a candidate's training up to the end of a rung, in updates unless the budget is in minutes.

    The learning rate falls to 0 by then, whatever the recipe's schedule is: docs/decisions/0022.
    """
    section = recipe.training
    falls = section.schedule in FALLING
    changed = dataclasses.replace(
        section,
        schedule=section.schedule if falls else "cosine",
        peak=peak(recipe),
        updates=updates or section.updates,
        checkpoint_every=max(1, updates // SAVES) if updates else section.checkpoint_every,
        average=1,
        average_of="last",
        patience=0,
        snapshots=0,
    )
    return dataclasses.replace(recipe, training=changed)


def judged(candidate: Candidate, run: Run, before: Recipe, *, by_time: bool) -> Candidate:
    """A candidate with the validation loss of its last checkpoint, and the curve of its training.

    Losses are those of the target's characters where the task tells their number: tokens of different vocabularies
    cannot be compared.
    """
    recipe, job = run.read_job()
    objective = TASKS.find(job.options.task).open(run, recipe, job.options)
    checkpoint = latest(run.checkpoints)
    assert checkpoint is not None, "a rung ends with one"
    torch.set_num_threads(job.options.threads or usable_cores())
    model = objective.build().to(torch.device(job.device))
    load_weights(model, checkpoint.weights())
    loss = _token_loss(objective, model)
    characters = objective.validation_characters
    tokens = objective.validation_tokens / characters if characters else 1.0
    """Tokens for each of the units that the loss is averaged over."""
    progress = checkpoint.progress()
    scale = recipe.training.batch_tokens / before.training.batch_tokens
    curve = thinned(points(run.events("update"), "log_loss"), CURVE_POINTS)
    return dataclasses.replace(
        candidate,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        losses=(*candidate.losses, round(loss * tokens, 6)),
        updates=(*candidate.updates, progress.update),
        seconds=(*candidate.seconds, round(progress.seconds, 3)),
        curve=tuple(
            (round(point.seconds if by_time else point.update * scale, 3), round(point.value * tokens, 5))
            for point in curve
        ),
    )


def judging_seconds(run: Run, recipe: Recipe, options: TrainOptions, device: torch.device) -> float:
    """How long it takes to judge a candidate, measured with a model that has learnt nothing."""
    torch.set_num_threads(options.threads or usable_cores())
    began = time.monotonic()
    objective = TASKS.find(options.task).open(run, recipe, options)
    _token_loss(objective, objective.build().to(device))
    return time.monotonic() - began


def _token_loss(objective: Objective[Any, Any], model: nn.Module) -> float:
    return objective.quick_scores(model.eval(), SingleWorker())["log_loss"].score
