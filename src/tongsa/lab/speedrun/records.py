"""A record: what a race reached and when, with everything that is needed to run it again."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tongsa.base.errors import CorpusError, UsageError
from tongsa.base.files import write_atomically
from tongsa.config import Recipe
from tongsa.lab.speedrun.machine import Machine
from tongsa.runs.card import Score

FORMAT = 1
RECORD = "record.json"
SHIPPED = Path(__file__).parent / "records"
"""Records that come with the package, one file each."""

TEST_METRICS = ("bleu", "lowercased_bleu")
"""How test sets are scored: sacrebleu's default, and as papers about the corpus do."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """The translator that would have been published at a checkpoint."""

    seconds: float
    """Race time: preparing, starting, and training up to here."""
    updates: int
    target_tokens: int
    bleu: float
    """On the validation set, or on a sample of it if that was far below all targets."""
    sentences: int
    """Sentences that were scored."""
    weights: str
    """Which weights these are: those of the checkpoint, or an average."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """The result of a race."""

    race: str
    recipe_name: str
    recipe: str
    """The whole recipe as TOML, with what was decided for the machine."""
    seed: int
    minutes: float | None
    """The budget; None if it was in updates."""
    parameters: int
    targets: tuple[float, ...]
    log: tuple[Point, ...]
    tests: Mapping[str, Mapping[str, Score]]
    """Scores of the published translator, by test set and metric."""
    search: str
    engine: str
    preparing: float
    """Seconds of preparing the text, part of the race time."""
    starting: float
    """Seconds of starting and stopping the training's processes, part of the race time."""
    scoring: float
    """Seconds of scoring, which are not part of the race time."""
    digests: Mapping[str, str]
    """Digests of the text, by part."""
    machine: Machine
    date: str

    @property
    def last(self) -> Point:
        return self.log[-1]

    def reached(self, target: float) -> Point | None:
        """The first checkpoint whose translator has this BLEU on the validation set."""
        return next((point for point in self.log if point.bleu >= target), None)

    def probes(self, point: Point) -> float | None:
        """Race time in units of the probe of this machine; None for a GPU, which the probe does not measure."""
        if self.machine.device != "cpu":
            return None
        return point.seconds * self.machine.used / self.machine.probe

    def to_json(self) -> str:
        """JSON; for readers it also has what follows from the log: when each target was reached."""
        values = dataclasses.asdict(self)
        reached = {}
        for target in self.targets:
            point = self.reached(target)
            reached[f"{target:g}"] = point and {
                "minutes": round(point.seconds / 60, 2),
                "updates": point.updates,
                "target_tokens": point.target_tokens,
                "probes": self.probes(point),
                "bleu": point.bleu,
            }
        return json.dumps({"format": FORMAT, "reached": reached, **values}, indent=1, ensure_ascii=False) + "\n"

    def write(self, folder: Path) -> Path:
        write_atomically(folder / RECORD, self.to_json())
        return folder / RECORD

    @classmethod
    def read(cls, path: Path) -> Record:
        """Read and check a record, which may be a stranger's."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if values["format"] != FORMAT:
                raise ValueError(f"its format is {values['format']!r}; this version reads {FORMAT}")
            record = cls._from_values(values)
        except OSError as error:
            raise CorpusError(f"{path} cannot be read: {error.strerror or error}") from error
        except KeyError as error:
            raise CorpusError(f"{path} is not a record of a race: it has no {error}") from error
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise CorpusError(f"{path} is not a record of a race: {error}") from error
        return record

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Record:
        log = tuple(Point(**_checked(Point, point)) for point in values["log"])
        if not log:
            raise ValueError("its log is empty")
        machine = Machine(**_checked(Machine, values["machine"]))
        if machine.probe <= 0:
            raise ValueError("its probe took no time")
        others = {each.name: values[each.name] for each in dataclasses.fields(cls)}
        simple = [each for each in dataclasses.fields(cls) if each.type in KINDS]
        others |= {each.name: _kind(each.name, values[each.name], KINDS[str(each.type)]) for each in simple}
        others["minutes"] = None if values["minutes"] is None else _number(values["minutes"])
        others["targets"] = tuple(_number(target) for target in values["targets"])
        others["digests"] = {str(name): str(digest) for name, digest in values["digests"].items()}
        others["tests"] = {str(name): _scores(scores) for name, scores in values["tests"].items()}
        return cls(**{**others, "log": log, "machine": machine})

    def parsed_recipe(self) -> Recipe:
        """The recipe as an object; a RecipeError if it is not one of this version."""
        import tomllib

        try:
            return Recipe.from_values(tomllib.loads(self.recipe), "the recipe of the record")
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise CorpusError(f"the recipe of the record is not TOML: {error}") from error


KINDS: dict[str, type[Any]] = {"str": str, "int": int, "float": float}


def _checked(kind: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a dataclass of numbers and texts."""
    return {each.name: _kind(each.name, values[each.name], KINDS[str(each.type)]) for each in dataclasses.fields(kind)}


def _scores(values: Mapping[str, Any]) -> dict[str, Score]:
    return {str(metric): Score(_number(each["score"]), str(each["signature"])) for metric, each in values.items()}


def _kind(key: str, value: Any, kind: type[Any]) -> Any:
    if kind is float:
        return _number(value)
    if type(value) is not kind or (kind is int and value < 0):
        raise ValueError(f"its {key} is {value!r}")
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{value!r} is not a number that it can have")
    return float(value)


def shipped() -> dict[str, Path]:
    """Files of the records that come with the package, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.json"))}


def find_record(name: str) -> Path:
    """The file of a record: a shipped one by its name, a file, or the record.json of a folder."""
    known = shipped()
    path = known.get(name, Path(name))
    path = path / RECORD if path.is_dir() else path
    if not path.is_file():
        told = f"Shipped records: {', '.join(known)}" if known else "No records are shipped with this version."
        raise UsageError(f"there is no record {name}", told, "`tongsa speedrun multi30k FOLDER` writes record.json.")
    return path


def read_records(names: Sequence[str]) -> dict[str, Record]:
    """All shipped records and those of these files and folders, by name; a folder may hold any number of them."""
    files = dict(shipped())
    for name in names:
        path = Path(name)
        within = sorted(path.rglob(RECORD)) if path.is_dir() else [find_record(name)]
        if not within:
            raise UsageError(f"{name} has no {RECORD}", "`tongsa speedrun multi30k FOLDER` writes one.")
        for each in within:
            files[str(each.parent if each.name == RECORD else each)] = each
    return {name: Record.read(path) for name, path in files.items()}
