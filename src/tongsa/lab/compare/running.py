"""Run a comparison from beginning to end. Finished work is on disk, so the same command continues where it stopped.

DIR/plan.json              what is compared
    prepared/              subwords and ids, made once
    models/NAME/           a translator directory each; its ids are links to the prepared ones
    results/NAME.json      the measurements of this model
    comparison.json comparison.md comparison.html
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from tongsa.base.devices import choose_device, usable_cores
from tongsa.base.errors import TongsaError, TrainingError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.data.prepare import Prepared
from tongsa.lab.compare.comparison import Comparison, compare_results, pictured
from tongsa.lab.compare.html import draw_comparison
from tongsa.lab.compare.plan import MODELS, CompareOptions, ComparisonPlan
from tongsa.lab.compare.preparing import PREPARED, Texts, prepare_comparison
from tongsa.lab.compare.results import Result, measure, stored_result
from tongsa.lab.compare.table import markdown
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.training.run import fit_and_publish, share_prepared


def compare(options: CompareOptions, out: Path, show: Show) -> Comparison | None:
    """Train the models on the same ids with the same budget, and compare them on the same test.

    Return None if it was interrupted: the same call continues it.
    """
    options.check()
    here = dataclasses.replace(
        options, threads=options.threads or usable_cores(), device=str(choose_device(options.device))
    )
    plan, test = prepare_comparison(out, here, show)
    results: dict[str, Result] = {}
    failed: dict[str, str] = {}
    for number, name in enumerate(plan.recipes, 1):
        show.say(f"\n[{number} of {len(plan.recipes)}] {name}: {plan.budget}")
        try:
            result = _one(out, name, plan, test, show)
        except (TongsaError, RuntimeError) as error:  # the other models can still be compared
            failed[name] = str(error)
            show.say(f"{name} failed: {error}")
            continue
        if result is None:
            show.say("to continue the comparison, run the same command again")
            return None
        results[name] = result
    if not results:
        raise TrainingError("no model could be trained", *(f"{name}: {why}" for name, why in failed.items()))
    comparison = compare_results(plan, results, test, Prepared.open(out / PREPARED).subwords.source, failed)
    _write(out, comparison, show)
    return comparison


def _one(out: Path, name: str, plan: ComparisonPlan, test: Texts, show: Show) -> Result | None:
    """Train and measure a model unless that is done already; return None if the training was interrupted."""
    stored = stored_result(out, name)
    if stored and len(stored.translations) == len(test):
        show.say(f"already measured: {out / MODELS / name}")
        return stored
    directory = out / MODELS / name
    if not _is_trained(directory):
        run = Run(directory)
        if not run.job_file.is_file():
            share_prepared(Run(out / PREPARED), run, plan.recipes[name], _train_options(plan.options))
        trained = fit_and_publish(run, show)
        if trained is None:
            return None
    shown = pictured(test, Prepared.open(directory).subwords)
    result = measure(name, directory, plan.options, test, shown, show)
    result.save(out)
    return result


def _is_trained(directory: Path) -> bool:
    return bool(Run(directory).events("finish"))


def _train_options(options: CompareOptions) -> TrainOptions:
    return TrainOptions(
        corpora=options.corpora,
        source=options.source,
        target=options.target,
        valid=options.valid,
        minutes=options.minutes,
        seed=options.seed,
        threads=options.threads,
        device=options.device,
    )


def _write(folder: Path, comparison: Comparison, show: Show) -> None:
    write_atomically(folder / "comparison.json", json.dumps(comparison.to_values(), indent=1, ensure_ascii=False))
    write_atomically(folder / "comparison.md", markdown(comparison))
    write_atomically(folder / "comparison.html", draw_comparison(comparison))
    show.say(f"\nwritten: {folder / 'comparison.html'}, comparison.md and comparison.json")
