"""Errors by task, beside those of the paper: as text, and as values for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tongsa.lab.babi.experiment import FAILED, Settings, TaskResult
from tongsa.lab.babi.published import Column, nearest


def published(settings: Settings) -> Column | None:
    """The paper's column for this experiment: all of them have position encoding and linear start."""
    if settings.encoding != "position" or not settings.linear_start:
        return None
    return nearest(joint=settings.joint, hops=settings.hops, tying=settings.tying, noise=settings.noise > 0)


def mean_error(results: Sequence[TaskResult]) -> float:
    return sum(result.error for result in results) / len(results)


def failed(results: Sequence[TaskResult]) -> int:
    return sum(result.error > FAILED for result in results)


def rows(results: Sequence[TaskResult], column: Column | None) -> list[tuple[str, str, str]]:
    """Task, error and the paper's error in percent; then the mean and how many failed: the paper's for all twenty."""
    body = [(f"{r.task}: {r.name}", f"{100 * r.error:.1f}", _paper(column, r.task)) for r in results]
    whole = column is not None and {r.task for r in results} == set(range(1, 21))
    ours = f"{100 * mean_error(results):.1f}"
    body.append(("mean error", ours, f"{column.mean:.1f}" if column and whole else ""))
    theirs = str(sum(error > 100 * FAILED for error in column.errors)) if column and whole else ""
    return [*body, ("tasks with more than 5% errors", str(failed(results)), theirs)]


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
        "failed": failed(results),
        "tasks": [asdict(result) for result in results],
        "paper": None if column is None else asdict(column),
    }
