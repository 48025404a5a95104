"""All records side by side, the command that reruns each, and what others have published."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from tongsa.lab.figures import COLOURS, lines
from tongsa.lab.speedrun.machine import PROBE
from tongsa.lab.speedrun.published import PROTOCOL, PUBLISHED
from tongsa.lab.speedrun.races import Race
from tongsa.lab.speedrun.records import Point, Record
from tongsa.lab.tables import NOTHING, Part, TablesPage, figure
from tongsa.pages.markup import count

LINES = len(COLOURS)
"""Records in the chart: as many as there are colours."""


@dataclass(frozen=True, kw_only=True)
class RecordsPage(TablesPage):
    """The table of records of a race."""

    race: str

    @property
    def title(self) -> str:
        return f"Records of the race {self.race}"

    @property
    def over(self) -> str:
        return "tongsa speedrun"


def ranked(records: Mapping[str, Record], targets: tuple[float, ...]) -> list[tuple[str, Record]]:
    """The records, best first: who reached the highest target, and of those who needed the least time for it."""

    def key(named: tuple[str, Record]) -> tuple[float, float, str]:
        name, record = named
        points = {target: point for target in targets if (point := record.reached(target))}
        if not points:
            return math.inf, -record.last.bleu, name
        highest = max(points)
        return -highest, points[highest].seconds, name

    return sorted(records.items(), key=key)


def records_page(race: Race, records: Mapping[str, Record], targets: tuple[float, ...] = ()) -> RecordsPage:
    """The page of a race, for its targets unless others are given; the logs tell when each was reached."""
    targets = targets or race.targets
    mine = ranked({name: record for name, record in records.items() if record.race == race.name}, targets)
    none = f"no records yet. To make one:  tongsa speedrun {race.name} FOLDER --minutes {race.minutes:g}"
    return RecordsPage(
        race=race.name,
        caption=f"minutes of training until BLEU on the validation set is {', '.join(f'{each:g}' for each in targets)}",
        parts=[
            Part(
                title="Records",
                head=["record", *(f"minutes to {each:g}" for each in targets), "budget", "recipe", "seed", "parameters",
                      "machine"],
                rows=[_times(name, record, targets) for name, record in mine],
                empty=none,
            ),
            Part(
                title="Without the machine",
                head=["record", *(f"{each:g}: updates, tokens, probes" for each in targets), "probe, s"],
                rows=[_measures(name, record, targets) for name, record in mine],
                empty=none,
            ),
            Part(
                title="BLEU at the end, and published figures",
                head=["system", "validation", *race.tests, "given", "source"],
                rows=[*(_scores(name, record, race) for name, record in mine), *_published(race)],
            ),
            Part(
                title="Run them again",
                head=["record", "command"],
                rows=[[name, rerun(race, name)] for name, _ in mine],
                empty=none,
            ),
        ],
        notes=_notes(race, mine),
        figures=_figures(mine),
    )  # fmt: skip


def rerun(race: Race, name: str) -> str:
    """The command that runs a record again."""
    return f"tongsa speedrun {race.name} FOLDER --verify {shlex.quote(name)} --out runs/again"


def _times(name: str, record: Record, targets: tuple[float, ...]) -> list[str]:
    points = [record.reached(target) for target in targets]
    return [
        name,
        *(figure(point.seconds / 60 if point else None, 1) for point in points),
        f"{record.minutes:g} min" if record.minutes else f"{record.last.updates:,} updates",
        record.recipe_name,
        str(record.seed),
        count(record.parameters),
        record.machine.in_words,
    ]


def _measures(name: str, record: Record, targets: tuple[float, ...]) -> list[str]:
    cells = [_measure(record, record.reached(target)) for target in targets]
    return [name, *cells, f"{record.machine.probe:.3f}"]


def _measure(record: Record, point: Point | None) -> str:
    if point is None:
        return NOTHING
    probes = record.probes(point)
    told = NOTHING if probes is None else f"{probes:,.0f}"
    return f"{point.updates:,}, {count(point.target_tokens)}, {told}"


def _scores(name: str, record: Record, race: Race) -> list[str]:
    cells = []
    for test in race.tests:
        scores = {key: each.score for key, each in record.tests.get(test, {}).items()}
        cells.append(_both(scores.get("bleu"), scores.get("lowercased_bleu")))
    version = f"tongsa {record.machine.tongsa} {record.machine.commit}".strip()
    return [name, f"{record.last.bleu:.2f}", *cells, "text only", f"{version}, {record.date}"]


def _published(race: Race) -> list[list[str]]:
    return [
        [each.system, NOTHING, *(_both(None, each.scores.get(test)) for test in race.tests), each.sees, each.source]
        for each in PUBLISHED.get(race.name, [])
    ]


def _both(cased: float | None, lowercased: float | None) -> str:
    return NOTHING if cased is None and lowercased is None else f"{figure(cased, 2)} / {figure(lowercased, 2)}"


def _notes(race: Race, records: list[tuple[str, Record]]) -> list[str]:
    found = [
        "Minutes are those of preparing, starting and training, up to the first checkpoint whose translator (the "
        "better of its weights and the average that the recipe asks for; beam 4) reaches the target. Scoring does not "
        "count.",
        f"A probe is {PROBE}. Race time in probes is seconds times the cores used, divided by the seconds of a probe.",
        "Targets are reached on the validation set. Test sets are scored once, at the end, and never choose anything.",
        PROTOCOL,
    ]
    found += [f"{each.system}: {each.training}. Read in: {each.read_in}." for each in PUBLISHED.get(race.name, [])]
    for name, record in records:
        other = race.other_text(record.digests)
        if other:
            found.append(f"{name} was not run on the published text ({', '.join(other)}): not comparable.")
    return found


def _figures(records: list[tuple[str, Record]]) -> list[str]:
    curves = {name: [(point.seconds / 60, point.bleu) for point in record.log] for name, record in records[:LINES]}
    return [lines("BLEU on the validation set", "minutes", curves)] if curves else []
