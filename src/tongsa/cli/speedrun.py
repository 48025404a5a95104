"""`tongsa speedrun`: a race for the shortest training, and its records"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import MachineOptions, Seed, check_minutes, grouped

if TYPE_CHECKING:
    from tongsa.lab.speedrun.races import Race
    from tongsa.lab.speedrun.records import Record


@dataclass(frozen=True, kw_only=True)
class RaceBudget:
    panel: ClassVar[str] = "Race"

    recipe: Annotated[
        str, typer.Option("--recipe", help="The name of a recipe, auto, or a TOML file (by default that of the race).")
    ] = ""
    to: Annotated[str, typer.Option("--to", help="BLEU to reach on the validation set, with commas.")] = ""
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", help="Training time (60 by default); the learning rate is planned for it."),
    ] = None
    updates: Annotated[
        int | None,
        typer.Option("--updates", help="Updates instead of minutes: the same result on the same machine.", min=1),
    ] = None
    seed: Seed = 1
    out: Annotated[Path, typer.Option("--out", help="Directory of the race; run the same command to continue.")] = Path(
        "runs/speedrun"
    )
    verify: Annotated[
        str, typer.Option("--verify", help="Run this record again (a file or a name) and compare.", metavar="RECORD")
    ] = ""

    def targets(self) -> tuple[float, ...]:
        try:
            found = tuple(sorted({float(each) for each in self.to.split(",") if each.strip()}))
        except ValueError as error:
            raise UsageError(
                f"--to must be numbers with commas, not {self.to}", "For example:  --to 35,38,40"
            ) from error
        if not all(0 < each <= 100 for each in found):
            raise UsageError(f"--to must be BLEU above 0 and up to 100, not {self.to}", "For example:  --to 35,38,40")
        return found


@dataclass(frozen=True, kw_only=True)
class RecordsOptions:
    panel: ClassVar[str] = "Records"

    records: Annotated[
        bool, typer.Option("--records", help="Print the table of records: the shipped ones and those that are named.")
    ] = False
    markdown: Annotated[bool, typer.Option("--markdown", help="With --records: print Markdown.")] = False
    html: Annotated[Path | None, typer.Option("--html", help="With --records: also write a page to this file.")] = None


@grouped
def speedrun(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RACE FOLDER",
            help="multi30k and the folder of its text; with --records, files or folders of records.",
        ),
    ] = None,
    *,
    race: RaceBudget,
    shown: RecordsOptions,
    machine: MachineOptions,
) -> None:
    """Race: how many minutes of training until the translator has 35, 38 and 40 BLEU.

    The clock counts preparing and training. Every checkpoint is scored afterwards.

    Examples:  tongsa speedrun multi30k data/multi30k --minutes 60 --out runs/race

    tongsa speedrun multi30k data/multi30k --verify runs/race/record.json --out runs/again

    tongsa speedrun --records runs/race
    """
    given = names or []
    if shown.records:
        _print_records(given, race, shown)
        return
    if shown.markdown or shown.html:
        raise UsageError("--markdown and --html need --records")
    if len(given) != 2:
        raise UsageError(
            "a race needs its name and the folder of its text",
            "For example:  tongsa speedrun multi30k data/multi30k      Records:  tongsa speedrun --records",
        )
    from tongsa.lab.speedrun.races import find_race

    chosen, folder = find_race(given[0]), Path(given[1])
    check_minutes(race.minutes)
    if race.verify:
        _verify(chosen, folder, race, machine)
    else:
        _race(chosen, folder, race, machine)


def _race(chosen: Race, folder: Path, race: RaceBudget, machine: MachineOptions) -> None:
    from tongsa.base.progress import for_this_stream
    from tongsa.lab.speedrun.running import RaceOptions, run_race

    if race.minutes and race.updates:
        raise UsageError("a race has one budget: --minutes or --updates")
    options = RaceOptions(
        race=chosen,
        folder=folder,
        recipe=race.recipe or chosen.recipe,
        minutes=None if race.updates else race.minutes or chosen.minutes,
        updates=race.updates,
        seed=race.seed,
        targets=race.targets() or chosen.targets,
        threads=machine.threads,
        device=machine.device,
    )
    record = run_race(options, race.out, for_this_stream())
    if record is None:
        raise typer.Exit(130)
    print(f"{summary(record)}: {race.out / 'record.json'}")


def summary(record: Record) -> str:
    """The result of a race in one line."""
    parts = []
    for target in record.targets:
        point = record.reached(target)
        told = f"{point.seconds / 60:.1f} minutes, {point.updates:,} updates" if point else "not reached"
        parts.append(f"{target:g} BLEU: {told}")
    tests = [f"{name} {scores['bleu'].score:.2f} ({scores['lowercased_bleu'].score:.2f} lower-cased)"
             for name, scores in record.tests.items()]  # fmt: skip
    return "; ".join(
        [*parts, f"at the end {record.last.bleu:.2f}", *tests, f"scoring took {record.scoring / 60:.1f} minutes"]
    )


def _verify(chosen: Race, folder: Path, race: RaceBudget, machine: MachineOptions) -> None:
    from tongsa.base.progress import for_this_stream
    from tongsa.lab.speedrun.records import Record, find_record
    from tongsa.lab.speedrun.verifying import verify

    if race.recipe or race.to or race.minutes or race.updates or race.seed != 1:
        raise UsageError("--verify takes recipe, targets, budget and seed from the record")
    path = find_record(race.verify)
    record = Record.read(path)
    if record.race != chosen.name:
        raise UsageError(f"{path} is a record of the race {record.race}, not of {chosen.name}")
    if path.resolve().is_relative_to(race.out.resolve()):
        raise UsageError(f"{race.out} holds the record itself", "Name another directory with --out.")
    found = verify(record, folder, race.out, for_this_stream(), threads=machine.threads, device=machine.device)
    if found is None:
        raise typer.Exit(130)
    print("\n".join(found.lines()))
    if not found.confirmed:
        raise typer.Exit(1)


def _print_records(names: list[str], race: RaceBudget, shown: RecordsOptions) -> None:
    from tongsa.base.files import write_atomically
    from tongsa.lab.speedrun.races import RACES
    from tongsa.lab.speedrun.records import read_records
    from tongsa.lab.speedrun.table import records_page

    chosen = next(iter(RACES.values()))
    if names and names[0] in RACES:
        chosen, names = RACES[names[0]], names[1:]
    page = records_page(chosen, read_records(names), race.targets())
    print(page.markdown() if shown.markdown else page.text())
    if shown.html:
        write_atomically(shown.html, page.html())
        print(f"\nwritten: {shown.html}")
