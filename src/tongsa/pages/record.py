"""The record of a training, read from its run directory; a missing part is None or empty, never an error."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tongsa.base.errors import DirectoryError, RecipeError
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.runs.job import Job
from tongsa.runs.log import read_log

Event = dict[str, Any]


@dataclass(frozen=True)
class TrainingRecord:
    """The data of a report."""

    name: str
    directory: Path
    """The run directory as the user named it."""
    card: Card
    start: Event
    """The last start event: a resumed training logs it again."""
    updates: list[Event]
    validations: list[Event]
    cleaning: Event
    """`seen` and `dropped` (counts by filter), if the log has them."""
    diversify: Event
    """`made`: the number of pairs that were made by translating the text, if there are such."""
    job: Job | None
    examples: list[Event]
    """The validation examples with the model's output, as the task wrote them."""

    @classmethod
    def read(cls, run: Run) -> TrainingRecord:
        events = _events(run.log_file)

        def last(*names: str) -> Event:
            return next((event for event in reversed(events) if event["event"] in names), {})

        return cls(
            name=run.path.resolve().name,
            directory=run.path,
            card=run.read_card(),
            start=last("start", "resume"),
            updates=[event for event in events if event["event"] == "update" and _counts(event)],
            validations=[event for event in events if event["event"] == "validation" and _counts(event)],
            cleaning=last("cleaning"),
            diversify=last("diversify"),
            job=_job(run),
            examples=_examples(run.examples_file),
        )

    @property
    def seconds(self) -> float | None:
        """Seconds of training."""
        if self.updates:
            return float(self.updates[-1]["seconds"])
        return 60 * self.card.training.minutes or None

    @property
    def target_tokens(self) -> float | None:
        if self.updates:
            return finite(self.updates[-1], "target_tokens")
        return self.card.training.target_tokens or None


def finite(event: Event, key: str) -> float | None:
    """The value of a key in an event if it is a finite number, otherwise None."""
    value = event.get(key)
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if good and value is not None else None


def _counts(event: Event) -> bool:
    return finite(event, "update") is not None and finite(event, "seconds") is not None


def _events(path: Path) -> list[Event]:
    try:
        return list(read_log(path))
    except (OSError, KeyError, TypeError):  # no log, or not one of ours
        return []


def _job(run: Run) -> Job | None:
    try:
        return run.read_job()[1]
    except (OSError, DirectoryError, RecipeError):
        return None


def _examples(path: Path) -> list[Event]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []
    found = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:  # truncated, or not one of ours
            continue
        if isinstance(entry, dict):
            found.append(entry)
    return found
