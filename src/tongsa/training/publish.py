"""The end of a training: choose the weights, write them with their card, and let the task publish them."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from torch import Tensor

from tongsa.base.errors import DirectoryError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.config import TrainingSection
from tongsa.evaluation.contracts import Metric
from tongsa.evaluation.metrics import METRICS
from tongsa.runs.directory import Run
from tongsa.runs.log import RunLog
from tongsa.tasks import TASKS
from tongsa.training.checkpoint import Checkpoint, average, checkpoints, latest, sound, to_average
from tongsa.training.logger import card_of


def publishable(
    newest: Checkpoint, present: list[Checkpoint], section: TrainingSection, metric: Metric, show: Show
) -> dict[str, dict[str, Tensor]]:
    """The weights to choose from, by name: the last checkpoint, and the average of those that the recipe averages."""
    best_by = metric if section.average_of == "best" else None
    chosen = sound(to_average(present, section.average, best_by), show.say)
    candidates = {"the last checkpoint": newest.weights()}
    if len(chosen) > 1:
        candidates[f"the average of {len(chosen)} checkpoints"] = average(chosen)
    elif chosen and chosen[0].update != newest.update:  # training.average_of is "best", and it was an earlier one
        candidates["the best checkpoint"] = chosen[0].weights()
    return candidates


def publish(run: Run, device: str, show: Show) -> Any:
    """Publish the average of the checkpoints or the last one, whichever scores better on the validation set.

    Return the published model: for translation, a Translator.
    """
    recipe, job = run.read_job()
    task = TASKS.find(job.options.task)
    objective = task.open(run, recipe, job.options)
    metric = METRICS.find(objective.selects)
    newest = latest(run.checkpoints)
    assert newest, "a training that has ended has saved"
    problem = newest.problem()
    if problem:
        raise DirectoryError(problem, f"Go back to the checkpoint before it:  tongsa resume {run.path}")
    progress = newest.progress()
    candidates = publishable(newest, checkpoints(run.checkpoints), recipe.training, metric, show)
    card = card_of(recipe, job, progress, objective.examples)
    show.say("finishing: the weights are chosen and evaluated, and the report is written")
    evaluations = {}
    for name, weights in candidates.items():
        evaluations[name] = task.evaluate(run, card, weights, device)
        how = f" ({evaluations[name].search})" if evaluations[name].search else ""
        found = metric.format(evaluations[name].scores[metric.name].score)
        show.say(f"{name}: validation {metric.title} {found}{how}")
    best = metric.ranking({name: each.scores[metric.name].score for name, each in evaluations.items()})[0]
    evaluation = evaluations[best]
    card = dataclasses.replace(
        card_of(recipe, job, progress, objective.examples, weights=best),
        scores={**evaluation.scores, **task.further_scores(card, evaluation)},
        calibration=evaluation.calibration,
        one_sentence=evaluation.one_sentence,
    )
    run.write_translator(card, candidates[best])
    card = run.read_card()  # now with checksums
    log = RunLog(run.log_file)
    scores = {name: each.to_values() for name, each in card.scores.items()}
    log.write("finish", progress.update, progress.seconds, scores=scores, weights=best)
    log.close()
    lines = "".join(json.dumps(example, ensure_ascii=False) + "\n" for example in evaluation.examples)
    write_atomically(run.examples_file, lines)
    return task.publish(run, card, evaluation, device, show)
