"""Run a record again: the same recipe, seed and number of updates, and see whether they reach the same scores."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tongsa.base.errors import CorpusError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.lab.speedrun.races import find_race
from tongsa.lab.speedrun.records import Point, Record
from tongsa.lab.speedrun.running import RaceOptions, run_race

RECIPE = "recipe.toml"


@dataclass(frozen=True, kw_only=True)
class Check:
    """When a target was reached in the record, and when in the second run."""

    target: float
    recorded: Point
    again: Point | None
    allowed: int
    """The update up to which the second run may take: that of the record, and one more checkpoint."""

    @property
    def confirmed(self) -> bool:
        return self.again is not None and self.again.updates <= self.allowed

    @property
    def in_words(self) -> str:
        told = f"BLEU {self.target:g}: recorded at update {self.recorded.updates:,}, "
        if self.again is None:
            return f"{told}never reached now"
        return f"{told}now at update {self.again.updates:,}{'' if self.confirmed else ', which is later'}"


@dataclass(frozen=True, kw_only=True)
class Verification:
    """A record beside the second run of it."""

    record: Record
    again: Record
    checks: tuple[Check, ...]

    @property
    def confirmed(self) -> bool:
        return all(check.confirmed for check in self.checks)

    @property
    def differences(self) -> list[float]:
        """Differences of BLEU at checkpoints of the same update."""
        now = {point.updates: point.bleu for point in self.again.log}
        return [abs(now[point.updates] - point.bleu) for point in self.record.log if point.updates in now]

    def lines(self) -> list[str]:
        found = [check.in_words for check in self.checks]
        if not found:
            found.append(f"the record reaches none of its targets; its last BLEU is {self.record.last.bleu:.2f}")
        if self.differences:
            largest = max(self.differences)
            told = "the same BLEU" if not largest else f"BLEU that differs by at most {largest:.2f}"
            found.append(f"{len(self.differences)} checkpoints of the same update have {told}")
        found.append(f"at the end: BLEU {self.record.last.bleu:.2f} recorded, {self.again.last.bleu:.2f} now")
        return [*found, "confirmed" if self.confirmed else "not confirmed"]


def compare_records(record: Record, again: Record) -> Verification:
    """Compare a record with a second run, which has its checkpoints at other updates if the record was by minutes.

    A target may then be reached one checkpoint later.
    """
    ends = [0, *(point.updates for point in again.log)]
    interval = max(after - before for before, after in pairwise(ends))
    checks = []
    for target in record.targets:
        recorded = record.reached(target)
        if recorded:
            allowed = recorded.updates + (0 if record.minutes is None else interval)
            checks.append(Check(target=target, recorded=recorded, again=again.reached(target), allowed=allowed))
    return Verification(record=record, again=again, checks=tuple(checks))


def verify(
    record: Record, folder: Path, out: Path, show: Show, *, threads: int | None = None, device: str = "auto"
) -> Verification | None:
    """Race with the recipe, seed and updates of a record; None if it was interrupted."""
    race = find_race(record.race)
    texts = race.texts(folder)
    other = [name for name, text in texts.items() if record.digests.get(name, text.digest) != text.digest]
    if other:
        raise CorpusError(f"{folder} has another text than the record was made with: {', '.join(other)}", race.obtain)
    recipe = out / RECIPE
    write_atomically(recipe, record.parsed_recipe().to_toml())
    options = RaceOptions(
        race=race,
        folder=folder,
        recipe=str(recipe),
        minutes=None,
        updates=record.last.updates,
        seed=record.seed,
        targets=record.targets,
        threads=threads,
        device=device,
    )
    again = run_race(options, out, show)
    return compare_records(record, again) if again else None
