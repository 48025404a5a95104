"""Table 2 at the user's scale: the systems that the paper compares itself with, their BLEU and training cost."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from tongsa.base.progress import Show
from tongsa.evaluation.significance import SURE
from tongsa.lab.compare.plan import CompareOptions
from tongsa.lab.paper.document import PaperTable, cost
from tongsa.lab.paper.published import GPUS, HOURS, TABLE_2, TFLOPS, training_cost
from tongsa.lab.tables import NOTHING, Part, figure
from tongsa.pages.markup import count

if TYPE_CHECKING:
    from tongsa.lab.compare.comparison import Comparison

SYSTEMS = {
    "ByteNet": "bytenet",
    "GNMT + RL": "lstm-attention",
    "ConvS2S": "convs2s",
    "MoE": "transformer-experts",
    "Transformer (base model)": "transformer",
}
"""Our recipe for each row of the paper that has one: the same kind of system, at the size for small data."""

METRICS = ("bleu", "tokenised_bleu")
"""sacrebleu's, and the one that is comparable with the paper's figures."""

SIZE = 512
"""Side of the matrices whose product measures a machine."""
PRODUCTS = 10


def run_table_2(compared: CompareOptions, out: Path, show: Show) -> PaperTable | None:
    """Train the systems that are not trained yet, and write the table; None if it was interrupted."""
    from tongsa.lab.compare.running import compare

    models = compared.models or tuple(SYSTEMS.values())
    found = compare(replace(compared, models=models, metrics=METRICS), out, show)
    if found is None:
        return None
    table = draw_table_2(measured_systems(found[0]), notes_of(found[0]))
    table.write(out)
    return table


@dataclass(frozen=True, kw_only=True)
class Row:
    """What was measured of a system, over its seeds."""

    parameters: int
    bleu: float
    interval: float
    p: float | None
    """Of the difference to the best system; None for itself."""
    tokenised_bleu: float
    operations: float
    """Counted: matrix products and convolutions of the whole training."""
    seconds: float


def measured_systems(comparison: Comparison) -> dict[str, Row]:
    rows = {}
    for name in comparison.ranking:
        scores = comparison.scores[name]
        rows[name] = Row(
            parameters=next(iter(comparison.runs[name].values())).parameters,
            bleu=scores["bleu"].score,
            interval=scores["bleu"].interval,
            p=scores["bleu"].p,
            tokenised_bleu=scores["tokenised_bleu"].score,
            operations=comparison.mean(name, lambda result: result.training_flops),
            seconds=60 * comparison.mean(name, lambda result: result.minutes),
        )
    return rows


def notes_of(comparison: Comparison) -> list[str]:
    options = comparison.options
    rate = options.threads * sustained_rate() if options.threads else 0.0
    tested = ", ".join(options.test) or "the validation set"
    notes = [
        f"{comparison.budget.text}, {options.seeds} seeds, {options.threads} threads ({options.device}); "
        f"{comparison.sentences:,} sentences of {tested}.",
        *(f"{key}: {each.scores[comparison.best].signature}" for key, each in comparison.tested.items()),
        *(f"{name} has no result: {why}" for name, why in comparison.unfinished.items()),
    ]
    if options.device == "cpu" and rate:
        notes.append(
            f"Estimated as the paper does, by time and capacity, an hour here is {cost(3600 * rate)} FLOPs: "
            f"{options.threads} threads sustain {rate / 1e9:,.0f} GFLOPS in products of {SIZE} x {SIZE} matrices."
        )
    return notes


def sustained_rate() -> float:
    """Floating-point operations per second of one thread in matrix products."""
    one, other = torch.randn(SIZE, SIZE), torch.randn(SIZE, SIZE)
    times = []
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for _ in range(PRODUCTS):
            began = time.perf_counter()
            one @ other
            times.append(time.perf_counter() - began)
    finally:
        torch.set_num_threads(threads)
    return float(2 * SIZE**3 / statistics.median(times))


def draw_table_2(rows: Mapping[str, Row], notes: Sequence[str]) -> PaperTable:
    here = [
        [
            name,
            count(row.parameters),
            f"{row.bleu:.1f} ± {row.interval:.1f}",
            "best" if row.p is None else f"{row.p:.3f}{'*' if row.p < SURE else ''}",
            f"{row.tokenised_bleu:.1f}",
            cost(row.operations),
            f"{row.seconds / 60:,.1f}",
        ]
        for name, row in rows.items()
    ]
    paper = [
        [
            system.name,
            system.source,
            figure(system.en_de, 2),
            figure(system.en_fr, 2),
            cost(system.cost_en_de),
            cost(system.cost_en_fr),
            SYSTEMS.get(system.name, NOTHING),
        ]
        for system in TABLE_2
    ]
    computed = [
        [
            f"Transformer ({size})",
            f"{HOURS[size]:g} hours x {GPUS} x {TFLOPS['P100']:g} TFLOPS",
            cost(training_cost(HOURS[size], GPUS, TFLOPS["P100"])),
        ]
        for size in HOURS
    ]
    return PaperTable(
        number=2,
        caption="BLEU and training cost of the Transformer and of the systems before it",
        parts=[
            Part(
                title="Here",
                head=["system", "parameters", "BLEU", "p", "tokenised BLEU", "training FLOPs, counted", "minutes"],
                rows=here,
            ),
            Part(
                title="The paper, newstest2014",
                head=["system", "from", "BLEU EN-DE", "EN-FR", "FLOPs EN-DE", "EN-FR", "here"],
                rows=paper,
            ),
            Part(title="The paper's training cost, by its formula", head=["system", "time x GPUs x capacity", "FLOPs"],
                 rows=computed),
        ],
        notes=[
            "± is the 95% interval over sentences and seeds; p is of the difference to the best, by Holm's "
            f"correction, * below {SURE}.",
            "The paper's BLEU is on tokens with compounds split: compare it with tokenised BLEU. Its cost is an "
            "estimate from time and hardware; here matrix products and convolutions are counted, forward and backward.",
            "The paper's MoE is an LSTM with a mixture of experts between its layers; transformer-experts has mixtures "
            "of experts for its feed-forward networks.",
            *notes,
        ],
    )  # fmt: skip
