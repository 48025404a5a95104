"""The memory network on the bAbI tasks: errors beside the published ones (Sukhbaatar et al. 2015, §4), and where the
hops attend. Uses the common trainer: one network for all tasks or one per task, with several restarts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tongsa.base.errors import UsageError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.config.presets import load_recipe
from tongsa.data.stories import BabiTask, load_questions
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.heatmaps import draw_map
from tongsa.pages.markup import escape, table
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.tasks.question_answering import DEFAULT_RECIPE, HELD_OUT, QUESTION_ANSWERING, Answer, QuestionAnswerer
from tongsa.training.run import fit_and_publish, prepare

FAILED = 0.05
"""A task with more wrong answers than this counts as failed (Weston et al. 2015)."""
EASILY_READ = 8
"""Preferred number of sentences in a story shown on the page."""
CELL = 26
"""Width of the cell of a weight on the page, in pixels."""
PICKED_FROM = 100
"""Number of test questions per task from which the page shows some."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings that the experiment varies; everything else comes from the recipe `babi`."""

    joint: bool = True
    """One network for all tasks, or one for each."""
    hops: int = 3
    tying: str = "adjacent"
    encoding: str = "position"
    d: int = 0
    """Width of the embeddings (0: the paper's 50 for all tasks together, 20 for one)."""
    memories: int = 50
    linear_start: bool = True
    linear_epochs: int = 0
    """Epochs of the linear start (0: until the validation loss stops falling)."""
    noise: float = 0.1
    epochs: int = 0
    """Epochs with softmax (0: the paper's 60 for all tasks together, 100 for one)."""
    restarts: int = 1
    """Number of trainings from different weights; the one with the lowest training loss counts (10 in the paper)."""
    seed: int = 1
    threads: int | None = None

    def problems(self) -> list[str]:
        found = [f"--{name} must be at least 1" for name in ("hops", "memories", "restarts") if getattr(self, name) < 1]
        found += ["--width must be at least 1"] if self.d < 0 else []
        found += ["--epochs must be at least 1"] if self.epochs < 0 else []
        return found + ([] if 0 <= self.noise <= 1 else ["--noise must be between 0 and 1"])

    def recipe(self, tasks: Sequence[BabiTask]) -> dict[str, str]:
        """Changes to the recipe for a training on these tasks."""
        batch = load_recipe(DEFAULT_RECIPE, {}).training.batch_tokens
        kept = sum(len(task.train) - int(len(task.train) * HELD_OUT) for task in tasks)
        an_epoch = math.ceil(kept / batch)
        return {
            "model.hops": str(self.hops),
            "model.tying": self.tying,
            "model.encoding": self.encoding,
            "model.d_model": str(self.d or (50 if self.joint else 20)),
            "model.memories": str(self.memories),
            "model.noise": str(self.noise),
            "model.linear_epochs": str(self.linear_epochs),
            "training.schedule": "linear-start" if self.linear_start else "annealed",
            "training.updates": str((self.epochs or (60 if self.joint else 100)) * an_epoch),
            "training.validate_every": str(an_epoch),
        }


@dataclass(frozen=True)
class TaskResult:
    """Result of a network on the test questions of a task."""

    task: int
    name: str
    questions: int
    error: float
    """Fraction of wrong answers."""
    network: str
    """The run directory of the network, relative to that of the experiment."""


def report(
    data: Path,
    tasks: Sequence[BabiTask],
    settings: Settings,
    out: Path,
    *,
    resume: bool = False,
    shown: int = 0,
    show: Show,
) -> str:
    """Run the experiment, write results.json and babi.html; return the text to print with `shown` stories per task."""
    if problems := settings.problems():
        raise UsageError("this experiment cannot be run", *problems)
    if not resume and out.is_dir() and any(Run(path).job_file.is_file() for path in out.iterdir()):
        raise UsageError(
            f"{out} already contains trained networks", "Choose another --out, or continue with them:  --resume"
        )
    results, answers = [], {}
    for name, group in groups(tasks, settings.joint).items():
        answerer = _best(name, data, group, settings, out, show)
        for task in group:
            error = answerer[1].error(task.test)
            results.append(TaskResult(task.number, task.name, len(task.test), error, answerer[0].path.name))
            answers[task.number] = answerer[1].answer(task.test[: max(shown, PICKED_FROM)])
            if not settings.joint:
                show.say(f"task {task.number}: {100 * error:.1f}% of the test questions wrong")
    write_atomically(out / "results.json", json.dumps(as_values(results, settings), indent=2) + "\n")
    picked = [each for found in answers.values() for each in _picked(found)]
    write_atomically(out / "babi.html", draw_babi(results, settings, picked))
    text = "".join(
        f"task {task.number}: {task.name}\n\n"
        + "".join(f"{story_text(each)}\n" for each in answers[task.number][:shown])
        for task in (tasks if shown else [])
    )
    return f"{text}{as_text(results, settings)}written: {out / 'results.json'}, {out / 'babi.html'}\n"


def groups(tasks: Sequence[BabiTask], joint: bool) -> dict[str, list[BabiTask]]:
    """Groups of tasks that share a network, by the name of its run directories."""
    return {"joint": list(tasks)} if joint else {f"task-{task.number}": [task] for task in tasks}


def _best(
    name: str, data: Path, tasks: list[BabiTask], settings: Settings, out: Path, show: Show
) -> tuple[Run, QuestionAnswerer]:
    """Train the networks that are missing; return the restart with the lowest loss on its training questions."""
    found = []
    for seed in range(settings.seed, settings.seed + settings.restarts):
        run = Run(out / f"{name}-{seed}")
        answerer = _trained(run, data, tasks, settings, seed, show)
        questions = load_questions(run.data / "train.jsonl")
        found.append((answerer.loss(questions), run, answerer))
    return min(found, key=lambda each: each[0])[1:]


def _trained(
    run: Run, data: Path, tasks: list[BabiTask], settings: Settings, seed: int, show: Show
) -> QuestionAnswerer:
    """The network of a run directory, trained (further) if it is not finished."""
    files = [path for task in tasks for path in data.glob(f"qa{task.number}_*_train.txt")]
    options = TrainOptions(
        corpora=tuple(map(str, files)),
        task=QUESTION_ANSWERING,
        recipe=DEFAULT_RECIPE,
        settings=settings.recipe(tasks),
        seed=seed,
        threads=settings.threads,
    )
    if not run.job_file.is_file():
        prepare(run, options, show)
    elif run.read_job()[1].options != options:
        raise UsageError(f"{run.path} was trained with other settings", "Choose another --out, or the same options.")
    if run.card_file.is_file() and run.read_card().training.weights:  # its training has ended
        return QuestionAnswerer.load(run.path)
    answerer = fit_and_publish(run, show)
    if answerer is None:
        raise KeyboardInterrupt
    assert isinstance(answerer, QuestionAnswerer)
    return answerer


def published(settings: Settings) -> Column | None:
    """The column of the paper's table that matches this experiment; all have position encoding and linear start.

    If the paper has no column with noise, the one without it.
    """
    if settings.encoding != "position" or not settings.linear_start:
        return None
    alike = [c for c in TABLE_1 if (c.joint, c.hops, c.tying) == (settings.joint, settings.hops, settings.tying)]
    return min(alike, key=lambda column: column.noise != (settings.noise > 0), default=None)


def mean_error(results: Sequence[TaskResult]) -> float:
    return sum(result.error for result in results) / len(results)


def rows(results: Sequence[TaskResult], column: Column | None) -> list[tuple[str, str, str]]:
    """Rows of (task, error %, the paper's error %), then mean and failed tasks; the paper's only for all twenty."""
    body = [(f"{r.task}: {r.name}", f"{100 * r.error:.1f}", _paper(column, r.task)) for r in results]
    whole = column is not None and {r.task for r in results} == set(range(1, 21))
    body.append(("mean error", f"{100 * mean_error(results):.1f}", f"{column.mean:.1f}" if column and whole else ""))
    theirs = str(sum(error > 100 * FAILED for error in column.errors)) if column and whole else ""
    return [*body, ("tasks with more than 5% errors", str(sum(r.error > FAILED for r in results)), theirs)]


def _paper(column: Column | None, task: int) -> str:
    return f"{column.errors[task - 1]:.1f}" if column and 1 <= task <= len(column.errors) else ""


def as_text(results: Sequence[TaskResult], settings: Settings) -> str:
    column = published(settings)
    found = rows(results, column)
    title = "errors in percent of the test questions"
    width = max(len(title), *(len(name) for name, _, _ in found))
    lines = [f"{title:{width}}  {'here':>6}" + ("   paper" if column else "")]
    lines += [f"{name:{width}}  {ours:>6}  {theirs:>6}".rstrip() for name, ours, theirs in found]
    if column:
        lines.append(f"paper: Sukhbaatar et al. 2015, Table 1, {column.name} (best of 10 trainings)")
    return "\n".join(lines) + "\n"


def as_values(results: Sequence[TaskResult], settings: Settings) -> dict[str, Any]:
    column = published(settings)
    return {
        "settings": asdict(settings),
        "mean_error": mean_error(results),
        "failed": sum(result.error > FAILED for result in results),
        "tasks": [asdict(result) for result in results],
        "paper": None if column is None else asdict(column),
    }


def _picked(answers: Sequence[Answer]) -> list[Answer]:
    """Examples for the page: a question answered correctly and one answered wrongly, if there are both."""
    found = []
    for right in (True, False):
        alike = [each for each in answers if each.right is right]
        found += sorted(alike, key=lambda each: abs(len(each.question.story) - EASILY_READ))[:1]
    return found


def story_text(answer: Answer) -> str:
    """The story with a column for each hop; a star at the sentences that hold the answer."""
    question = answer.question
    sentences = question.story[answer.first :]
    width = max([len(sentence) for sentence in sentences] + [len("(empty memories)")])
    hops = "".join(f"  hop {hop}" for hop in range(1, len(answer.weights) + 1))
    lines = [f"  {'':{width}}  {hops}"]
    if answer.first:
        lines.append(f"  ({answer.first} earlier sentences do not fit into the memory)")
    for place, sentence in enumerate(sentences):
        star = "*" if place + answer.first in question.supports else " "
        lines.append(f"{star} {sentence:{width}}  {_weights([hop[place] for hop in answer.weights])}")
    if max(answer.empty) >= 0.005:
        lines.append(f"  {'(empty memories)':{width}}  {_weights(answer.empty)}")
    verdict = "right" if answer.right else f"wrong: {question.answer}"
    return "\n".join([*lines, f"  {question.text}  {answer.text} ({answer.probability:.2f}, {verdict})"]) + "\n"


def _weights(values: Sequence[float]) -> str:
    return "".join(f"  {value:5.2f}" if value >= 0.005 else "      ." for value in values)


def draw_babi(results: Sequence[TaskResult], settings: Settings, answers: Sequence[Answer]) -> str:
    """babi.html: the errors by task, and where the hops attend."""
    column = published(settings)
    cells = [[escape(cell) for cell in row] for row in rows(results, column)]
    note = f"Paper: Sukhbaatar et al. 2015, Table 1, {column.name}, best of 10 trainings." if column else ""
    kind = "one network for all tasks" if settings.joint else "a network for each task"
    errors = table(["test errors, %", "here", "paper"], cells)
    hops = (
        '<p class="note">Weights of the sentences at each hop; a star marks those that support the answer according to '
        "the task; the network never sees these marks.</p>"
    )
    return page(
        "The memory network on bAbI",
        heading=heading(
            "The memory network on bAbI",
            over="question answering",
            text=f"{settings.hops} hops, {escape(settings.tying)} tying, {escape(settings.encoding)} encoding, {kind}.",
        ),
        sections=[
            Section(
                key="errors",
                title="Errors",
                content=f'<div class="wide-table">{errors}</div><p class="note">{escape(note)}</p>',
            ),
            Section(
                key="hops",
                title="Where the hops attend",
                content=f'{hops}<div class="maps">{"".join(map(_draw, answers))}</div>',
            ),
        ],
        footer="Written by tongsa.",
    )


def _draw(answer: Answer) -> str:
    """A story with the weight of each sentence at each hop."""
    question = answer.question
    weights = [list(row) for row in zip(*answer.weights, strict=True)]
    names = [
        f"{question.story[place]}{' *' if place in question.supports else ''}"
        for place in range(answer.first, answer.first + len(weights))
    ]
    hops = [f"hop {hop}" for hop in range(1, len(answer.weights) + 1)]
    drawn = draw_map([*weights, answer.empty], [*names, "(empty memories)"], hops, question.text, CELL)
    verdict = "" if answer.right else f" <ins>{escape(question.answer)}</ins>"
    given = f"<b>{escape(answer.text)}</b>" if answer.right else f"<del>{escape(answer.text)}</del>"
    early = f"; {answer.first} earlier sentences do not fit into the memory" if answer.first else ""
    return (
        f'<figure class="attends"><figcaption><b>{escape(question.text)}</b> {given}{verdict} '
        f"<span>task {question.task}, probability {answer.probability:.2f}{early}</span></figcaption>{drawn}</figure>"
    )


@dataclass(frozen=True)
class Column:
    """A column of Table 1."""

    name: str
    joint: bool
    hops: int
    tying: str
    noise: bool
    errors: tuple[float, ...]
    """Errors of tasks 1 to 20."""
    mean: float
    """The mean as printed in the paper."""


# fmt: off
# Errors that the paper reports (its Table 1): test, in percent, 1,000 training questions a task. PE: position encoding,
# LS: linear start, RN: random noise, LW: layer-wise tying; all with three hops unless said.
TABLE_1 = (
    Column("3 hops PE LS", False, 3, "adjacent", False, (
        0.2, 12.8, 58.8, 11.6, 15.7, 8.7, 20.3, 12.7, 17.0, 18.6, 0.0, 0.1, 0.3, 2.0, 0.0, 1.6, 49.0, 10.1, 85.6, 0.0,
    ), 16.3),
    Column("3 hops PE LS RN", False, 3, "adjacent", True, (
        0.0, 8.3, 40.3, 2.8, 13.1, 7.6, 17.3, 10.0, 13.2, 15.1, 0.9, 0.2, 0.4, 1.7, 0.0, 1.3, 51.0, 11.1, 82.8, 0.0,
    ), 13.9),
    Column("1 hop PE LS joint", True, 1, "adjacent", False, (
        0.8, 62.0, 76.9, 22.8, 11.0, 7.2, 15.9, 13.2, 5.1, 10.6, 8.4, 0.4, 6.3, 36.9, 46.4, 47.4, 44.4, 9.6, 90.7, 0.0,
    ), 25.8),
    Column("2 hops PE LS joint", True, 2, "adjacent", False, (
        0.0, 15.6, 31.6, 2.2, 13.4, 2.3, 25.4, 11.7, 2.0, 5.0, 1.2, 0.0, 0.2, 8.1, 0.5, 51.3, 41.2, 10.3, 89.9, 0.1,
    ), 15.6),
    Column("3 hops PE LS joint", True, 3, "adjacent", False, (
        0.1, 14.0, 33.1, 5.7, 14.8, 3.3, 17.9, 10.1, 3.1, 6.6, 0.9, 0.3, 1.4, 8.2, 0.0, 3.5, 44.5, 9.2, 90.2, 0.0,
    ), 13.3),
    Column("3 hops PE LS RN joint", True, 3, "adjacent", True, (
        0.0, 11.4, 21.9, 13.4, 14.4, 2.8, 18.3, 9.3, 1.9, 6.5, 0.3, 0.1, 0.2, 6.9, 0.0, 2.7, 40.4, 9.4, 88.0, 0.0,
    ), 12.4),
    Column("3 hops PE LS LW joint", True, 3, "layerwise", False, (
        0.1, 18.8, 31.7, 17.5, 12.9, 2.0, 10.1, 6.1, 1.5, 2.6, 3.3, 0.0, 0.5, 2.0, 1.8, 51.0, 42.6, 9.2, 90.6, 0.2,
    ), 15.2),
)
# fmt: on
