"""What networks got wrong on the bAbI tasks, over the seeds they were trained from, beside what the paper reports."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

FAILED = 0.05
"""A task with more wrong answers than this counts as failed (Weston et al. 2015)."""
TASKS = 20


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


@dataclass(frozen=True, kw_only=True)
class NetworkResult:
    """A trained network: how well it did on held-out questions, which chooses, and on the test questions."""

    network: str
    """Its run directory, relative to that of the experiment."""
    group: str
    """The tasks that it was trained on: joint, or task-N."""
    seed: int
    validation_loss: float
    validation_error: float
    """Fraction of wrong answers to the held-out questions."""
    training_loss: float
    tasks: tuple[TaskResult, ...]


@dataclass(frozen=True)
class BabiResults:
    """The networks of an experiment."""

    networks: Sequence[NetworkResult]

    def chosen(self, by: str = "validation_loss") -> list[NetworkResult]:
        """Of each group the network with the lowest loss on the held-out questions, or by another measure."""
        found: dict[str, NetworkResult] = {}
        for each in self.networks:
            if each.group not in found or getattr(each, by) < getattr(found[each.group], by):
                found[each.group] = each
        return list(found.values())

    def best(self, by: str = "validation_loss") -> list[TaskResult]:
        """The results of the chosen networks, by task."""
        return sorted((task for each in self.chosen(by) for task in each.tasks), key=lambda result: result.task)

    def errors(self, task: int) -> list[float]:
        """The errors of all seeds on a task."""
        return [each.error for network in self.networks for each in network.tasks if each.task == task]

    def means(self) -> dict[int, float]:
        """The mean error over the tasks by seed, for the seeds that all tasks have."""
        tasks = {result.task for result in self.best()}
        found: dict[int, dict[int, float]] = {}
        for network in self.networks:
            found.setdefault(network.seed, {}).update({result.task: result.error for result in network.tasks})
        return {seed: statistics.fmean(by.values()) for seed, by in sorted(found.items()) if set(by) == tasks}


def mean_error(results: Sequence[TaskResult]) -> float:
    return sum(result.error for result in results) / len(results)


def head(results: BabiResults, column: Column | None) -> list[str]:
    several = len(results.means()) > 1
    return (
        ["best", "mean", "sd", "paper"]
        if several and column
        else ["best", "mean", "sd"]
        if several
        else (["here", "paper"] if column else ["here"])
    )


def rows(results: BabiResults, column: Column | None) -> list[tuple[str, ...]]:
    """Rows of task and errors in percent, then mean and failed tasks; the paper's mean only beside all twenty.

    With several seeds the errors are of the chosen network, the mean of all, and their standard deviation.
    """
    best, means = results.best(), list(results.means().values())
    several = len(means) > 1

    def over_seeds(errors: Sequence[float]) -> tuple[str, ...]:
        if not several:
            return ()
        spread = statistics.stdev(errors) if len(errors) > 1 else 0.0
        return f"{100 * statistics.fmean(errors):.1f}", f"{100 * spread:.1f}"

    body = [
        (f"{r.task}: {r.name}", f"{100 * r.error:.1f}", *over_seeds(results.errors(r.task)), _paper(column, r.task))
        for r in best
    ]
    whole = column is not None and {r.task for r in best} == set(range(1, TASKS + 1))
    theirs = f"{column.mean:.1f}" if column and whole else ""
    body.append(("mean error", f"{100 * mean_error(best):.1f}", *over_seeds(means), theirs))
    failed = str(sum(error > 100 * FAILED for error in column.errors)) if column and whole else ""
    blank = ("", "") if several else ()
    return [*body, ("tasks with more than 5% errors", str(sum(r.error > FAILED for r in best)), *blank, failed)]


def _paper(column: Column | None, task: int) -> str:
    return f"{column.errors[task - 1]:.1f}" if column and 1 <= task <= len(column.errors) else ""


def as_text(results: BabiResults, column: Column | None) -> str:
    found = rows(results, column)
    title = "errors in percent of the test questions"
    width = max(len(title), *(len(row[0]) for row in found))
    lines = [f"{title:{width}}" + "".join(f"  {name:>6}" for name in head(results, column))]
    lines += [(f"{row[0]:{width}}" + "".join(f"  {cell:>6}" for cell in row[1:])).rstrip() for row in found]
    if column:
        lines.append(f"paper: Sukhbaatar et al. 2015, Table 1, {column.name} (best of 10 trainings)")
    if len(results.means()) > 1:
        lines.append(seeds_note(results))
    return "\n".join(lines) + "\n"


def seeds_note(results: BabiResults) -> str:
    """How the best was chosen, and what another choice would have given."""
    by_training = mean_error(results.best("training_loss"))
    each = ", ".join(f"{seed}: {100 * error:.1f}" for seed, error in results.means().items())
    return (
        f"best: the lowest loss on held-out questions of {len(results.means())} seeds (chosen by training loss, as in "
        f"the paper, it is {100 * by_training:.1f}); mean error by seed: {each}"
    )


def as_values(results: BabiResults, settings: Mapping[str, Any], column: Column | None) -> dict[str, Any]:
    best, means = results.best(), results.means()
    return {
        "settings": dict(settings),
        "mean_error": mean_error(best),
        "mean_error_by_seed": {str(seed): error for seed, error in means.items()},
        "mean_of_seeds": statistics.fmean(means.values()) if means else None,
        "chosen_by_training_loss": mean_error(results.best("training_loss")),
        "failed": sum(result.error > FAILED for result in best),
        "tasks": [asdict(result) for result in best],
        "networks": [asdict(network) for network in results.networks],
        "paper": None if column is None else asdict(column),
    }


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
