"""The memory network on the bAbI tasks: errors beside the published ones (Sukhbaatar et al. 2015, §4), and where the
hops attend. Uses the common trainer: one network for all tasks or one per task, with several restarts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tongsa.base.errors import TrainingError, UsageError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.config.presets import load_recipe
from tongsa.data.stories import BabiTask, load_questions
from tongsa.lab.babi_results import (
    TABLE_1,
    BabiResults,
    Column,
    NetworkResult,
    TaskResult,
    as_text,
    as_values,
    head,
    rows,
    seeds_note,
)
from tongsa.lab.grid import Cell, consecutive, run_grid
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.heatmaps import draw_map
from tongsa.pages.markup import escape, table
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.tasks.question_answering import DEFAULT_RECIPE, HELD_OUT, QUESTION_ANSWERING, Answer, QuestionAnswerer
from tongsa.training.run import fit_and_publish, prepare

LOCKS = ".locks"
"""Folder with the locks of the processes that share an experiment."""
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
    seeds: int = 1
    """Trainings from different weights (10 in the paper); the one with the lowest validation loss is the best."""
    seed: int = 1
    threads: int | None = None

    def problems(self) -> list[str]:
        found = [f"--{name} must be at least 1" for name in ("hops", "memories", "seeds") if getattr(self, name) < 1]
        found += ["--width must be at least 1"] if self.d < 0 else []
        found += ["--epochs must be at least 1"] if self.epochs < 0 else []
        found += ["--linear-epochs must be at least 1"] if self.linear_epochs < 0 else []
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
    found = _run(data, tasks, settings, out, show)
    results = BabiResults([each[0] for each in found])
    column = published(settings)
    networks = {result.network: answerer for result, answerer in found}
    answers = {
        task.number: networks[result.network].answer(task.test[: max(shown, PICKED_FROM)])
        for task, result in zip(sorted(tasks, key=lambda task: task.number), results.best(), strict=True)
    }
    values = as_values(results, asdict(settings), column)
    write_atomically(out / "results.json", json.dumps(values, indent=2) + "\n")
    picked = [each for found in answers.values() for each in _picked(found)]
    write_atomically(out / "babi.html", draw_babi(results, settings, picked))
    text = "".join(
        f"task {task.number}: {task.name}\n\n"
        + "".join(f"{story_text(each)}\n" for each in answers[task.number][:shown])
        for task in (tasks if shown else [])
    )
    return f"{text}{as_text(results, column)}written: {out / 'results.json'}, {out / 'babi.html'}\n"


def groups(tasks: Sequence[BabiTask], joint: bool) -> dict[str, list[BabiTask]]:
    """Groups of tasks that share a network, by the name of its run directories."""
    return {"joint": list(tasks)} if joint else {f"task-{task.number}": [task] for task in tasks}


Trained = tuple[NetworkResult, QuestionAnswerer]


def _run(data: Path, tasks: Sequence[BabiTask], settings: Settings, out: Path, show: Show) -> list[Trained]:
    """The networks of all groups and seeds; those that are missing are trained. Several processes may share this."""
    by_name = groups(tasks, settings.joint)
    seeds = consecutive(settings.seed, settings.seeds)
    grid = [Cell(name, seed, f"{name}-{seed}") for seed in seeds for name in by_name]
    options = {cell: _options(data, by_name[cell.row], settings, cell.seed) for cell in grid}
    for cell in grid:
        run = Run(out / cell.label)
        if run.job_file.is_file() and run.read_job()[1].options != options[cell]:
            raise UsageError(
                f"{run.path} was trained with other settings", "Choose another --out, or the same options."
            )

    def stored(cell: Cell) -> Trained | None:
        run = Run(out / cell.label)
        if not (run.card_file.is_file() and run.read_card().training.weights):  # its training has not ended
            return None
        return _tested(cell, run, QuestionAnswerer.load(run.path), by_name[cell.row])

    def train(cell: Cell) -> Trained | None:
        run = Run(out / cell.label)
        if not run.job_file.is_file():
            prepare(run, options[cell], show)
        answerer = fit_and_publish(run, show)
        return None if answerer is None else _tested(cell, run, answerer, by_name[cell.row])

    found = run_grid(grid, stored=stored, run=train, locks=out / LOCKS, show=show)
    if found.interrupted:
        raise KeyboardInterrupt
    unfinished = found.unfinished()
    if {cell.row for cell in found.done} != set(by_name):
        raise TrainingError("some tasks have no network", *(f"{name}: {why}" for name, why in unfinished.items()))
    for name, why in unfinished.items():
        show.say(f"{name} is not among the results: {why}")
    return [found.done[cell] for cell in grid if cell in found.done]


def _options(data: Path, tasks: Sequence[BabiTask], settings: Settings, seed: int) -> TrainOptions:
    files = [path for task in tasks for path in data.glob(f"qa{task.number}_*_train.txt")]
    return TrainOptions(
        corpora=tuple(map(str, files)),
        task=QUESTION_ANSWERING,
        recipe=DEFAULT_RECIPE,
        settings=settings.recipe(tasks),
        seed=seed,
        threads=settings.threads,
    )


def _tested(cell: Cell, run: Run, answerer: QuestionAnswerer, tasks: Sequence[BabiTask]) -> Trained:
    scores = run.read_card().scores
    result = NetworkResult(
        network=cell.label,
        group=cell.row,
        seed=cell.seed,
        validation_loss=scores["log_loss"].score,
        validation_error=scores["error"].score / 100,
        training_loss=answerer.loss(load_questions(run.data / "train.jsonl")),
        tasks=tuple(
            TaskResult(task.number, task.name, len(task.test), answerer.error(task.test), cell.label) for task in tasks
        ),
    )
    return result, answerer


def published(settings: Settings) -> Column | None:
    """The column of the paper's table that matches this experiment; all have position encoding and linear start.

    If the paper has no column with noise, the one without it.
    """
    if settings.encoding == "bag" or not settings.linear_start:
        return None
    alike = [c for c in TABLE_1 if (c.joint, c.hops, c.tying) == (settings.joint, settings.hops, settings.tying)]
    return min(alike, key=lambda column: column.noise != (settings.noise > 0), default=None)


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


def draw_babi(results: BabiResults, settings: Settings, answers: Sequence[Answer]) -> str:
    """babi.html: the errors by task, and where the hops attend."""
    column = published(settings)
    cells = [[escape(cell) for cell in row] for row in rows(results, column)]
    note = f"Paper: Sukhbaatar et al. 2015, Table 1, {column.name}, best of 10 trainings." if column else ""
    kind = "one network for all tasks" if settings.joint else "a network for each task"
    titles = head(results, column) + ([] if column else [""])
    errors = table(["test errors, %", *titles], cells)
    note += f" {seeds_note(results)}." if len(results.means()) > 1 else ""
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
