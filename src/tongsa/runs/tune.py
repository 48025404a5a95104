"""tune.json: what a search for the recipe has tried, and what it chose (training/tuning.py searches)."""

from __future__ import annotations

import dataclasses
import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tongsa.base.errors import DirectoryError
from tongsa.base.files import write_atomically
from tongsa.base.regular import read_json
from tongsa.config import Recipe

FORMAT = 1

UNEVEN = 1.5
"""Ratio of the speeds of two candidates of one size from which on a search by minutes is not to be trusted."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A recipe that is tried. The tuples have an entry for each rung that it has finished."""

    number: int
    """Counted from 1, which is the recipe unchanged."""
    settings: Mapping[str, str]
    """What it changes in the recipe: `{"training.peak": "0.002"}`."""
    parameters: int = 0
    losses: tuple[float | None, ...] = ()
    """Validation losses; None if the training diverged."""
    updates: tuple[int, ...] = ()
    seconds: tuple[float, ...] = ()
    """Seconds of training so far."""
    curve: tuple[tuple[float, float], ...] = ()
    """How far it was, in the unit of the rungs, and its training loss."""

    def loss(self, rung: int) -> float:
        """The loss after a rung; infinite if the training diverged."""
        found = self.losses[rung]
        return math.inf if found is None else found

    @property
    def diverged(self) -> bool:
        return None in self.losses

    def words(self, recipe: Recipe) -> list[str]:
        """Its changes of this recipe: `training.peak 0.003 -> 0.002`."""
        values = recipe.to_values()
        return [f"{key} {_value(values, key)} -> {value}" for key, value in self.settings.items()]


def _value(values: Mapping[str, Mapping[str, Any]], key: str) -> Any:
    section, _, name = key.partition(".")
    return values[section][name]


@dataclass(frozen=True, kw_only=True)
class TuneRecord:
    """A search by successive halving."""

    began: Mapping[str, Any]
    """The options and the text that it began with."""
    count: int
    minutes: float | None
    """The whole budget, if it is in minutes; otherwise it is in updates."""
    values: Mapping[str, Any]
    """The recipe that the candidates change."""
    lengths: tuple[float, ...] = ()
    """How far a candidate is trained by the end of each rung: in seconds, or in updates of the recipe unchanged."""
    candidates: tuple[Candidate, ...] = ()
    unit: str = "token"
    """What the losses are averaged over."""
    used: float = 0.0
    """Seconds that the search has taken."""
    overhead: float = 0.0
    """Part of them that starting and judging candidates took."""
    chosen: int | None = None
    """Number of the candidate that was chosen."""
    final: Mapping[str, float] = field(default_factory=dict)
    """The budget of the training that follows: `{"updates": 500}` or `{"minutes": 2.5}`."""

    @property
    def recipe(self) -> Recipe:
        return Recipe.from_values(self.values, "the recipe of the search")

    @property
    def by_time(self) -> bool:
        return self.minutes is not None

    def survivors(self, rung: int) -> list[Candidate]:
        """The candidates that take part in a rung, counted from 0: the better halves of all the rungs before it.

        None of them has diverged, so there may be none.
        """
        left = list(self.candidates)
        for before in range(rung):
            if len(left) <= 1:
                break
            ranked = sorted(left, key=lambda each: (each.loss(before), each.number))
            left = [each for each in ranked[: half(len(left))] if not each.diverged]
        return sorted(left, key=lambda each: each.number)

    def dropped_after(self, candidate: Candidate) -> int | None:
        """The rung, counted from 1, after which a candidate was left out; None if it was not."""
        done = len(candidate.losses)
        if not done or candidate.number == self.chosen:
            return None
        everyone = all(len(each.losses) >= done for each in self.survivors(done - 1))
        return done if everyone and candidate not in self.survivors(done) else None

    def with_candidate(self, changed: Candidate, seconds: float) -> TuneRecord:
        """A copy with a candidate replaced, after so many more seconds."""
        found = tuple(changed if each.number == changed.number else each for each in self.candidates)
        trained = sum(changed.seconds[-1:]) - sum(self.find(changed.number).seconds[-1:])
        overhead = self.overhead + max(0.0, seconds - trained)
        return dataclasses.replace(self, candidates=found, used=self.used + seconds, overhead=overhead)

    def uneven(self) -> tuple[Candidate, Candidate] | None:
        """Two candidates of one size, the first much faster than the second in the first rung.

        Then something else used the machine, and candidates that had the same time were not treated alike.
        """
        if not self.by_time:
            return None
        speeds = {each.number: each.updates[0] / max(each.seconds[0], 1e-9) for each in self.candidates if each.updates}
        batches = {each.number: each.settings.get("training.batch_tokens") for each in self.candidates}
        for one in self.candidates:
            for other in self.candidates:
                alike = one.parameters == other.parameters and batches[one.number] == batches[other.number]
                both = one.number in speeds and other.number in speeds
                if both and alike and speeds[one.number] > UNEVEN * speeds[other.number]:
                    return one, other
        return None

    def find(self, number: int) -> Candidate:
        return next(each for each in self.candidates if each.number == number)

    def write(self, path: Path) -> None:
        values = {"format": FORMAT, **dataclasses.asdict(self)}
        write_atomically(path, json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False) + "\n")

    @classmethod
    def read(cls, path: Path) -> TuneRecord:
        values = read_json(path)
        try:
            if values.pop("format") != FORMAT:
                raise ValueError("its format is unknown")
            found = [
                Candidate(
                    **{
                        **each,
                        **{key: tuple(each[key]) for key in ("losses", "updates", "seconds")},
                        "curve": tuple((x, y) for x, y in each["curve"]),
                    }
                )
                for each in values["candidates"]
            ]
            return cls(**{**values, "candidates": tuple(found), "lengths": tuple(values["lengths"])})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise DirectoryError(
                f"{path} is damaged: {error}", f"To search from the beginning, remove {path.parent}."
            ) from error

    def command(self, directory: Path) -> str:
        """The command that trains the chosen recipe again, without the search."""
        options = self.began["options"]
        words = ["tongsa", "train", *options["corpora"]]
        given = {"--from": options["source"], "--to": options["target"], "--subwords": options["subwords"]}
        words += ["--task", options["task"]] if not options["source"] else []
        words += [word for name, value in given.items() if value for word in (name, value)]
        for name in ("valid", "mix"):
            words += [word for value in options[name] for word in (f"--{name}", value)]
        words += ["--mix-ratio", f"{options['mix_ratio']:g}"] if options["mix"] else []
        words += ["--recipe", str(directory / "tune.toml"), "--seed", str(options["seed"])]
        words += ["--minutes", f"{self.final['minutes']:g}"] if "minutes" in self.final else []
        return shlex.join([*words, "--out", f"{directory}-again"])


def half(count: int) -> int:
    """How many of so many candidates go on."""
    return (count + 1) // 2
