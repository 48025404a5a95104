"""Run a comparison from beginning to end. Finished work is on disk, so the same command continues where it stopped.

DIR/plan.json              what is compared
    prepared/              subwords and ids, made once
    models/NAME/           a translator directory each; its ids are links to the prepared ones
    results/NAME.json      the measurements of this model
    locks/                 held while a process prepares the text or trains a model
    comparison.json comparison.md comparison.html

A training with another seed than the first is NAME.seedN, one with the second of two budgets NAME.updates.
"""

from __future__ import annotations

import dataclasses
import json
from contextlib import AbstractContextManager
from pathlib import Path

from tongsa.base.devices import choose_device, usable_cores
from tongsa.base.errors import TrainingError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.data.prepare import Prepared
from tongsa.lab.compare.comparison import Comparison, compare_results, pictured
from tongsa.lab.compare.html import draw_comparison
from tongsa.lab.compare.plan import LOCKS, MODELS, Budget, CompareOptions, ComparisonPlan
from tongsa.lab.compare.preparing import PREPARED, Texts, prepare_comparison
from tongsa.lab.compare.results import Result, measure, stored_result
from tongsa.lab.compare.table import markdown
from tongsa.lab.grid import Cell, cells, consecutive, run_grid, waiting_for
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.training.run import fit_and_publish, share_prepared


def compare(options: CompareOptions, out: Path, show: Show) -> list[Comparison] | None:
    """Train the models on the same ids with the same budget, and compare them on the same test: once for each budget.

    Return None if it was interrupted: the same call continues it. Several processes may work on the same directory.
    """
    options.check()
    here = dataclasses.replace(
        options, threads=options.threads or usable_cores(), device=str(choose_device(options.device))
    )
    with _preparing(out, show):
        plan, test = prepare_comparison(out, here, show)
    rows = plan.rows()
    found = run_grid(
        cells(list(rows), consecutive(options.seed, options.seeds)),
        stored=lambda cell: _stored(out, cell, test),
        run=lambda cell: _run(out, cell, plan, test, show),
        locks=out / LOCKS,
        show=show,
    )
    if found.interrupted:
        show.say("to continue the comparison, run the same command again")
        return None
    unfinished = found.unfinished()
    if not found.done:
        raise TrainingError("no model could be trained", *(f"{name}: {why}" for name, why in unfinished.items()))
    vocabulary = Prepared.open(out / PREPARED).subwords.source
    by_row = found.by_row()
    comparisons = []
    for budget in plan.options.budgets:
        runs = {model: by_row[row] for row, (model, its) in rows.items() if its == budget and row in by_row}
        if runs:
            comparisons.append(compare_results(plan, budget, runs, test, vocabulary, unfinished))
    _write(out, comparisons, show)
    return comparisons


def _preparing(out: Path, show: Show) -> AbstractContextManager[None]:
    return waiting_for(out / LOCKS / "prepare.lock", f"preparing {out}", show)


def _stored(out: Path, cell: Cell, test: Texts) -> Result | None:
    stored = stored_result(out, cell.label)
    return stored if stored and len(stored.translations) == len(test) else None


def _run(out: Path, cell: Cell, plan: ComparisonPlan, test: Texts, show: Show) -> Result | None:
    """Train (further) and measure a model; return None if the training was interrupted."""
    model, budget = plan.rows()[cell.row]
    directory = out / MODELS / cell.label
    if not _is_trained(directory):
        run = Run(directory)
        if not run.job_file.is_file():
            options = _train_options(plan.options, budget, cell.seed)
            with _preparing(out, show):  # nothing may change there while it is linked
                share_prepared(Run(out / PREPARED), run, plan.recipe(model, budget), options)
        trained = fit_and_publish(run, show)
        if trained is None:
            return None
    shown = pictured(test, Prepared.open(directory).subwords)
    result = measure(cell.label, directory, plan.options, test, shown, show)
    result.save(out)
    return result


def _is_trained(directory: Path) -> bool:
    return bool(Run(directory).events("finish"))


def _train_options(options: CompareOptions, budget: Budget, seed: int) -> TrainOptions:
    return TrainOptions(
        corpora=options.corpora,
        source=options.source,
        target=options.target,
        valid=options.valid,
        minutes=budget.minutes,
        seed=seed,
        threads=options.threads,
        device=options.device,
    )


def _write(folder: Path, comparisons: list[Comparison], show: Show) -> None:
    values = {"comparisons": [comparison.to_values() for comparison in comparisons]}
    write_atomically(folder / "comparison.json", json.dumps(values, indent=1, ensure_ascii=False))
    write_atomically(folder / "comparison.md", markdown(comparisons))
    pages = [
        folder / f"comparison{f'-{each.budget.kind}' if number else ''}.html" for number, each in enumerate(comparisons)
    ]
    for path, comparison in zip(pages, comparisons, strict=True):
        write_atomically(path, draw_comparison(comparison))
    show.say(f"\nwritten: {', '.join(map(str, pages))}, comparison.md and comparison.json")
