"""Table 4 on the user's trees: parsers trained with the same budget, on right trees alone and with silver ones."""

from __future__ import annotations

import dataclasses
import json
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tongsa.base.errors import TrainingError, UsageError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.config import Recipe, TransformerSection
from tongsa.config.presets import load_recipe
from tongsa.lab.grid import Cell, cells, consecutive, run_grid
from tongsa.lab.paper.document import PaperTable
from tongsa.lab.paper.published import TABLE_4
from tongsa.lab.tables import Part
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions

RECIPES, PARSERS, RESULTS, LOCKS = "recipes", "parsers", "results", "locks"

SILVER = "silver"
"""Ends the name of a row that is trained with silver trees too."""


@dataclass(frozen=True)
class System:
    """A parser of the table: its name there, and how its recipe differs from that of `tongsa parse train`."""

    title: str
    architecture: str
    linearisation: str


SYSTEMS = {
    "lstm": System("LSTM with attention, brackets (as Vinyals & Kaiser et al.)", "lstm-attention", "brackets"),
    "transformer": System("Transformer, brackets (the paper's)", "transformer", "brackets"),
    "in-order": System("Transformer, in-order actions", "transformer", "in-order"),
    "next-word": System(
        "Transformer that is shown the next word, in-order actions", "transformer-next-word", "in-order"
    ),
}


@dataclass(frozen=True, kw_only=True)
class Table4Options:
    trees: tuple[str, ...]
    valid: tuple[str, ...]
    test: str
    silver: tuple[str, ...] = ()
    """Files of trees that a parser made."""
    silver_ratio: float = 1.0
    """Silver trees for each right one."""
    systems: tuple[str, ...] = tuple(SYSTEMS)
    settings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    minutes: float | None = None
    updates: int | None = None
    seed: int = 1
    seeds: int = 2
    beam: int | None = None
    """Hypotheses kept at each step (the paper: 21); None takes the recipe's."""
    threads: int | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        unknown = [name for name in self.systems if name not in SYSTEMS]
        if unknown or not self.systems:
            raise UsageError(f"unknown parser: {', '.join(unknown)}", f"Parsers: {', '.join(SYSTEMS)}")

    def rows(self) -> list[str]:
        """The systems, trained on right trees alone; then, with silver trees, each of them again."""
        return [*self.systems, *(f"{name}.{SILVER}" for name in self.systems if self.silver)]

    @property
    def budget(self) -> str:
        return f"{self.minutes:g} minutes" if self.minutes else f"{self.updates:,} updates"


def system_recipe(name: str) -> Recipe:
    """The recipe for parsing with the architecture and the linearisation of this system."""
    system, recipe = SYSTEMS[name], load_recipe("parsing", {})
    values: dict[str, dict[str, Any]] = recipe.to_values()
    model = values["model"]
    if system.architecture.startswith("transformer"):
        names = {field.name for field in dataclasses.fields(TransformerSection)}
        model = {key: value for key, value in model.items() if key in names}
    else:
        model = {key: model[key] for key in ("d_model", "dropout")}
    values["model"] = {**model, "architecture": system.architecture}
    values["corpus"]["linearisation"] = system.linearisation
    values["corpus"]["tags"] = system.linearisation != "brackets"  # the paper's parser writes no tags
    return Recipe.from_values(values, f"parser {name}")


@dataclass(frozen=True, kw_only=True)
class Result:
    """What was measured of a parser."""

    f1: float
    precision: float
    recall: float
    complete_match: float
    well_formed: int
    """Trees over exactly the words of their sentence."""
    sentences: int
    sentences_per_second: float
    parameters: int
    updates: int


def run_table_4(options: Table4Options, out: Path, show: Show) -> PaperTable | None:
    """Train the parsers that are not trained yet, and write the table; None if it was interrupted."""
    found = run_grid(
        cells(options.rows(), consecutive(options.seed, options.seeds)),
        stored=lambda cell: _stored(out, cell),
        run=lambda cell: _run(options, out, cell, show),
        locks=out / LOCKS,
        show=show,
    )
    if found.interrupted:
        return None
    unfinished = found.unfinished()
    if not found.done:
        raise TrainingError("no parser could be trained", *(f"{name}: {why}" for name, why in unfinished.items()))
    results = {row: list(by_seed.values()) for row, by_seed in found.by_row().items()}
    table = draw_table_4(results, options, [f"{name} has no result: {why}" for name, why in unfinished.items()])
    table.write(out)
    return table


def _stored(out: Path, cell: Cell) -> Result | None:
    try:
        return Result(**json.loads((out / RESULTS / f"{cell.label}.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _run(options: Table4Options, out: Path, cell: Cell, show: Show) -> Result | None:
    from tongsa.training.run import train_with

    system = cell.row.removesuffix(f".{SILVER}")
    recipe = out / RECIPES / f"{system}.toml"
    write_atomically(recipe, system_recipe(system).to_toml())
    budget = {} if options.updates is None else {"training.updates": str(options.updates)}
    training = TrainOptions(
        task="parsing",
        corpora=options.trees,
        valid=options.valid,
        recipe=str(recipe),
        settings={**budget, **options.settings},
        minutes=options.minutes,
        seed=cell.seed,
        threads=options.threads,
        device=options.device,
    )
    if cell.row != system:
        training = dataclasses.replace(training, silver=options.silver, silver_ratio=options.silver_ratio)
    parser = train_with(training, Run(out / PARSERS / cell.label), show, resume=True)
    if parser is None:
        return None
    result = measure(parser, options, Run(out / PARSERS / cell.label))
    write_atomically(out / RESULTS / f"{cell.label}.json", json.dumps(dataclasses.asdict(result)))
    return result


def measure(parser: Any, options: Table4Options, run: Run) -> Result:
    """Parse the test trees' sentences and score them by PARSEVAL."""
    from tongsa.evaluation.parseval import add_up, compare
    from tongsa.formats.trees import plain_tree, read_trees, with_leaves

    gold = [tree for tree in (plain_tree(read) for read, _ in read_trees(Path(options.test))) if tree]
    began = time.perf_counter()
    found = [parsed.tree for parsed in parser.parse([tree.words() for tree in gold], parser.search(options.beam))]
    seconds = time.perf_counter() - began
    pairs = list(zip(gold, found, strict=True))
    total = add_up([compare([right], [with_leaves(tree, right.leaves())]) for right, tree in pairs])
    return Result(
        f1=total.f1,
        precision=total.precision,
        recall=total.recall,
        complete_match=total.complete_match,
        well_formed=sum(right.words() == tree.words() for right, tree in pairs),
        sentences=len(gold),
        sentences_per_second=len(gold) / max(seconds, 1e-9),
        parameters=sum(parameter.numel() for parameter in parser.model.parameters()),
        updates=run.read_card().training.updates,
    )


def draw_table_4(results: Mapping[str, Sequence[Result]], options: Table4Options, notes: Sequence[str]) -> PaperTable:
    here = []
    for row, runs in results.items():
        system = SYSTEMS[row.removesuffix(f".{SILVER}")]
        here.append(
            [
                system.title,
                "with silver trees" if row.endswith(f".{SILVER}") else "right trees only",
                _mean([run.f1 for run in runs]),
                _mean([run.complete_match for run in runs]),
                f"{sum(run.well_formed for run in runs):,} of {sum(run.sentences for run in runs):,}",
                f"{statistics.fmean(run.sentences_per_second for run in runs):,.1f}",
                f"{runs[0].parameters:,}",
                f"{statistics.fmean(run.updates for run in runs):,.0f}",
            ]
        )
    head = [
        "parser",
        "training",
        "labelled F1",
        "complete match",
        "well-formed",
        "sentences/s",
        "parameters",
        "updates",
    ]
    return PaperTable(
        number=4,
        caption="English constituency parsing; here any trees",
        parts=[
            Part(title="Here", head=head, rows=here),
            Part(
                title="The paper, section 23 of the Wall Street Journal",
                head=["parser", "training", "labelled F1"],
                rows=[[parser.name, parser.training, f"{parser.f1:.1f}"] for parser in TABLE_4],
            ),
        ],
        notes=[
            f"{options.budget} each, {options.seeds} seeds from {options.seed} on: mean and standard deviation; "
            f"F1 by PARSEVAL as EVALB counts with COLLINS.prm, on {options.test}.",
            "The search writes only legal actions, unlike the paper's: every tree is over the words of its sentence.",
            *notes,
        ],
    )


def _mean(values: Sequence[float]) -> str:
    mean = f"{statistics.fmean(values):.1f}"
    return mean if len(values) < 2 else f"{mean} ± {statistics.stdev(values):.1f}"
