"""Table 3 at the user's scale: variations of the Transformer, trained on the same ids with the same budget.

Every width of a row is the paper's divided by `scale`, every number of layers divided by `depth`: the rows keep the
proportions that the paper compares.
"""

from __future__ import annotations

import dataclasses
import itertools
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tongsa.base.errors import UsageError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.config import Recipe
from tongsa.config.presets import PRESETS, load_recipe
from tongsa.evaluation.significance import SURE
from tongsa.lab.compare.plan import CompareOptions
from tongsa.lab.figures import intervals
from tongsa.lab.paper.document import PaperTable
from tongsa.lab.paper.published import TABLE_3
from tongsa.lab.question import Mean
from tongsa.lab.tables import NOTHING, Part, figure
from tongsa.pages.markup import count

if TYPE_CHECKING:
    from tongsa.lab.compare.comparison import Comparison

BASE = "base"
SCALES = (1, 2, 4, 8, 16)
"""16 is d_k of rows A4 and B1."""
DEPTHS = (1, 2)
WIDTHS = ("d_model", "d_ff", "d_k", "d_v")
LAYERS = ("encoder_layers", "decoder_layers")
RECIPES = "recipes"
"""Folder with the recipe of each row."""

SMALL_TRAINING = {key: PRESETS["tiny"]["training"][key] for key in ("batch_tokens", "schedule", "peak", "warmup")}
"""How smaller rows are trained: the paper's steps, batches and learning rate are for millions of pairs."""


@dataclass(frozen=True, kw_only=True)
class Table3Options:
    """The rows and their scale."""

    rows: tuple[str, ...] = tuple(TABLE_3)
    scale: int = 4
    """Widths are divided by this."""
    depth: int = 2
    """Layers are divided by this."""

    def __post_init__(self) -> None:
        if self.scale not in SCALES or self.depth not in DEPTHS:
            raise UsageError(
                f"--scale can be {', '.join(map(str, SCALES))}, and --depth {' or '.join(map(str, DEPTHS))}",
                f"Given: {self.scale} and {self.depth}.",
            )
        unknown = [row for row in self.rows if row not in TABLE_3]
        if unknown or not self.rows:
            raise UsageError(f"unknown row of Table 3: {', '.join(unknown)}", f"Rows: {', '.join(TABLE_3)}")

    def names(self) -> list[str]:
        """The rows in the paper's order, with the one that all are compared with."""
        return [name for name in TABLE_3 if name == BASE or name in self.rows]


def row_recipe(name: str, options: Table3Options, updates: int | None) -> Recipe:
    """The preset of this row at the scale; no checkpoints are averaged, as in §6.2."""
    recipe = load_recipe(name, {})
    values: dict[str, dict[str, Any]] = recipe.to_values()
    model, training = values["model"], values["training"]
    for keys, divisor in ((WIDTHS, options.scale), (LAYERS, options.depth)):
        model |= {key: model[key] // divisor for key in keys}
    model["max_positions"] = max(256, model["max_positions"] // options.scale)
    training |= {"average": 1, "checkpoint_every": 0}
    if options.scale > 1:
        training |= SMALL_TRAINING
        # Eq. 3: the learning rate falls with the square root of d_model
        training["peak"] *= (512 // options.scale / model["d_model"]) ** 0.5
        training["warmup"] = min(training["warmup"], max(1, (updates or 10**6) // 10))
    return Recipe.from_values(values, f"row {name} of Table 3")


def what_differs(name: str, options: Table3Options) -> str:
    """The settings of a row that the base model has otherwise, at the scale."""
    row, base = (row_recipe(each, options, None) for each in (name, BASE))
    changed = []
    for section in ("model", "training"):
        own, theirs = getattr(row, section), getattr(base, section)
        keys = [field.name for field in dataclasses.fields(own) if field.name not in ("updates", "peak")]
        changed += [f"{key} {getattr(own, key)}" for key in keys if getattr(own, key) != getattr(theirs, key)]
    if all(f"{stack} {getattr(row.model, stack)}" in changed for stack in LAYERS):
        changed = [each for each in changed if not each.startswith(LAYERS)]
        changed.append(f"N {getattr(row.model, LAYERS[0])}")
    return ", ".join(changed) or "the base model"


def run_table_3(compared: CompareOptions, options: Table3Options, out: Path, show: Show) -> PaperTable | None:
    """Train the rows that are not trained yet, and write the table; None if it was interrupted."""
    from tongsa.lab.compare.running import compare

    paths = []
    for name in options.names():
        paths.append(out / RECIPES / f"{name}.toml")
        write_atomically(paths[-1], row_recipe(name, options, compared.updates).to_toml())
    found = compare(dataclasses.replace(compared, models=tuple(map(str, paths))), out, show)
    if found is None:
        return None
    comparison = found[0]
    table = draw_table_3(measured_rows(comparison), options, notes_of(comparison))
    table.write(out)
    return table


@dataclass(frozen=True, kw_only=True)
class Row:
    """What was measured of a row, over its seeds."""

    parameters: int
    perplexity: float | None
    """On the validation set at the end, per subword."""
    bleu: float
    interval: float
    p: float | None
    """Of the difference to the base model; None for itself."""
    seeds: int


def measured_rows(comparison: Comparison) -> dict[str, Row]:
    tested = comparison.tested["bleu"]
    rows = {}
    for name in (name for name in TABLE_3 if name in comparison.runs):
        runs = list(comparison.runs[name].values())
        last = [run.curves["perplexity"][-1][1] for run in runs if run.curves.get("perplexity")]
        scores = tested.scores[name]
        rows[name] = Row(
            parameters=runs[0].parameters,
            perplexity=statistics.fmean(last) if last else None,
            bleu=scores.score,
            interval=scores.interval,
            p=tested.pairs.get((BASE, name), tested.pairs.get((name, BASE))),
            seeds=len(runs),
        )
    return rows


def notes_of(comparison: Comparison) -> list[str]:
    options = comparison.options
    tested = ", ".join(options.test) or "the validation set"
    unfinished = [f"{name} has no result: {why}" for name, why in comparison.unfinished.items()]
    return [
        f"{comparison.budget.text}, also `big`, which the paper trains for three times as many steps; "
        f"{options.seeds} seeds each, {options.threads} threads ({options.device}).",
        f"BLEU on {comparison.sentences:,} sentences of {tested}, {comparison.tested['bleu'].scores[BASE].signature}.",
        *unfinished,
    ]


def draw_table_3(rows: Mapping[str, Row], options: Table3Options, notes: Sequence[str]) -> PaperTable:
    base = rows[BASE]
    head = ["row", "what differs", "parameters", "perplexity", "BLEU", "to base", "p"]
    head += ["paper: perplexity", "BLEU", "to base", "10^6 parameters"]
    shown = []
    for name, row in rows.items():
        theirs = TABLE_3[name]
        shown.append(
            [
                name,
                what_differs(name, options),
                count(row.parameters),
                figure(row.perplexity, 2),
                f"{row.bleu:.1f} ± {row.interval:.1f}",
                NOTHING if name == BASE else f"{row.bleu - base.bleu:+.1f}",
                _chance(row.p),
                figure(theirs.perplexity, 2),
                figure(theirs.bleu, 1),
                NOTHING if name == BASE else f"{theirs.bleu - TABLE_3[BASE].bleu:+.1f}",
                NOTHING if theirs.millions is None else str(theirs.millions),
            ]
        )
    claims = [[claim.text, *claim.judged(rows)] for claim in CLAIMS]
    return PaperTable(
        number=3,
        caption=f"variations on the Transformer; widths divided by {options.scale}, layers by {options.depth}",
        parts=[
            Part(title="Rows", head=head, rows=shown),
            Part(title="What the paper concludes", head=["§5.4, §6.2", "here", "figures"], rows=claims),
        ],
        notes=[
            agreement(rows),
            f"± is the 95% interval over sentences and seeds; p is of the difference to the base model, by Holm's "
            f"correction over all pairs of rows, * below {SURE}. A conclusion is judged by means alone.",
            "Perplexity is per subword on the validation set; the paper's is per word piece on newstest2013.",
            *notes,
        ],
        figures=[
            intervals("Here", "BLEU", {name: Mean(row.bleu, row.interval) for name, row in rows.items()}, digits=1),
            intervals(
                "The paper", "BLEU on newstest2013", {name: Mean(TABLE_3[name].bleu, 0.0) for name in rows}, digits=1
            ),
        ],
    )


def _chance(p: float | None) -> str:
    return NOTHING if p is None else f"{p:.3f}{'*' if p < SURE else ''}"


def agreement(rows: Mapping[str, Row]) -> str:
    """How the order of the rows compares with the paper's."""
    theirs = {name: TABLE_3[name].bleu - TABLE_3[BASE].bleu for name in rows}
    others = [name for name, difference in theirs.items() if difference]
    if not others:
        return "There is no other row to compare with the base model."
    same = [name for name in others if (rows[name].bleu - rows[BASE].bleu) * theirs[name] > 0]
    told = [
        f"{len(same)} of {len(others)} rows that are better or worse than the base model in the paper are so here, too "
        "(by BLEU)."
    ]
    if len(rows) > 2:
        correlation = rank_correlation([row.bleu for row in rows.values()], [TABLE_3[name].bleu for name in rows])
        told.append(f"Rank correlation of BLEU with the paper's: {correlation:.2f}.")
    return " ".join(told)


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's: the correlation of ranks, with mean ranks for equal values; 0 where all are equal."""

    def ranks(values: Sequence[float]) -> list[float]:
        return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]

    first, second = ranks(list(one)), ranks(list(other))
    if len(set(first)) == 1 or len(set(second)) == 1:
        return 0.0
    return statistics.correlation(first, second)


@dataclass(frozen=True)
class Claim:
    """A conclusion of the paper from rows of the table."""

    text: str
    rows: tuple[str, ...]
    holds: Callable[[Mapping[str, Row]], bool]

    def judged(self, rows: Mapping[str, Row]) -> tuple[str, str]:
        """Whether it holds here, and the figures that it is judged by."""
        missing = [name for name in self.rows if name not in rows]
        if missing:
            return "not measured", f"no {', '.join(missing)}"
        figures = ", ".join(f"{name} {rows[name].bleu:.1f}" for name in self.rows)
        return ("holds" if self.holds(rows) else "does not hold"), figures


def _rising(*names: str) -> Callable[[Mapping[str, Row]], bool]:
    return lambda rows: all(rows[a].bleu < rows[b].bleu for a, b in itertools.pairwise(names))


def _smoothing(rows: Mapping[str, Row]) -> bool:
    hard, smooth = rows["D3"], rows[BASE]
    known = hard.perplexity is not None and smooth.perplexity is not None
    return known and hard.perplexity < smooth.perplexity and hard.bleu < smooth.bleu  # type: ignore[operator]


CLAIMS = [
    Claim("(A) a single head is worse than the best setting", ("A1", "A2", BASE, "A3"), lambda rows: (
        rows["A1"].bleu < max(rows[name].bleu for name in ("A2", BASE, "A3"))
    )),
    Claim("(A) too many heads are worse, too", (BASE, "A3", "A4"), lambda rows: (
        rows["A4"].bleu < max(rows[name].bleu for name in (BASE, "A3"))
    )),
    Claim("(B) smaller keys are worse", ("B1", "B2", BASE), _rising("B1", "B2", BASE)),
    Claim("(C) deeper is better, up to the base model", ("C1", "C2", BASE), _rising("C1", "C2", BASE)),
    Claim("(C) wider is better: d_model", ("C4", BASE, "C5"), _rising("C4", BASE, "C5")),
    Claim("(C) wider is better: d_ff", ("C6", BASE, "C7"), _rising("C6", BASE, "C7")),
    Claim("(D) dropout helps", ("D1", BASE), _rising("D1", BASE)),
    Claim("(D) label smoothing hurts perplexity and helps BLEU", ("D3", BASE), _smoothing),
    Claim("(E) learned positions are nearly the same: within the interval", ("E", BASE), lambda rows: (
        abs(rows["E"].bleu - rows[BASE].bleu) <= max(rows["E"].interval, rows[BASE].interval)
    )),
]  # fmt: skip
