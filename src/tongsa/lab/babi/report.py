"""What an experiment leaves behind: networks, results.json, babi.html; and what it prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.lab.babi.experiment import Settings, TaskResult, run
from tongsa.lab.babi.html import draw_babi
from tongsa.lab.babi.looks import Look, as_text, look
from tongsa.lab.babi.saving import read_trained
from tongsa.lab.babi.stories import Task
from tongsa.lab.babi.table import as_text as table_text
from tongsa.lab.babi.table import as_values

SENTENCES = 8
"""About so many of a story are easily read."""


def report(tasks: Sequence[Task], settings: Settings, out: Path, *, resume: bool, shown: int, show: Show) -> str:
    """Run the experiment and write its files; the text to print."""
    results = run(tasks, settings, out, resume, show)
    looks = {task.number: _looks(task, result, out, shown) for task, result in zip(tasks, results, strict=True)}
    drawn = [each for found in looks.values() for each in chosen(found)]
    write_atomically(out / "results.json", json.dumps(as_values(results, settings), indent=2) + "\n")
    write_atomically(out / "babi.html", draw_babi(results, settings, drawn))
    text = "".join(_shown(task, looks[task.number][:shown]) for task in tasks) if shown else ""
    return f"{text}{table_text(results, settings)}written: {out / 'results.json'}, {out / 'babi.html'}\n"


def _looks(task: Task, result: TaskResult, out: Path, shown: int) -> list[Look]:
    """Enough of the first test questions to choose from."""
    return look(read_trained(out / result.network), task.test[: max(shown, 100)])


def chosen(looks: Sequence[Look]) -> list[Look]:
    """For the page: a question that is answered right and one that is not, where there are both."""
    found = []
    for right in (True, False):
        alike = [each for each in looks if each.right is right]
        found += sorted(alike, key=lambda each: abs(len(each.question.story) - SENTENCES))[:1]
    return found


def _shown(task: Task, looks: Sequence[Look]) -> str:
    return f"task {task.number}: {task.name}\n\n" + "".join(f"{as_text(each)}\n" for each in looks)
