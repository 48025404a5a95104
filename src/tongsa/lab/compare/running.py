"""A comparison from beginning to end. Whatever is done is on the disk, so the same command goes on where it stopped.

DIR/plan.json              what is compared
    prepared/              subwords and ids, made once
    models/NAME/           a translator directory each; its ids are links to the prepared ones
    results/NAME.json      what was measured of it
    comparison.json comparison.md comparison.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tongsa.base.devices import choose_device, usable_cores
from tongsa.base.errors import TongsaError, TrainingError, UsageError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show, Silent
from tongsa.data.prepare import Prepared
from tongsa.lab.compare.html import draw_comparison
from tongsa.lab.compare.measuring import measure
from tongsa.lab.compare.plan import MODELS, Plan, names_of
from tongsa.lab.compare.preparing import PREPARED, Asked, Texts, prepared_plan
from tongsa.lab.compare.result import Result, stored_result
from tongsa.lab.compare.table import markdown
from tongsa.lab.compare.verdict import Comparison, judge_all, pictured
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.training.run import fit_and_publish, share_prepared

Names = str | Path | Sequence[str | Path]


def compare(
    corpus: Names,
    *,
    models: str | Sequence[str],
    source: str,
    target: str,
    out: str | Path,
    valid: Names | None = None,
    test: Names | None = None,
    minutes: float | None = None,
    updates: int | None = None,
    match_parameters: bool = False,
    settings: Mapping[str, str] | None = None,
    seed: int = 1,
    threads: int | None = None,
    device: str = "auto",
    show: Show | None = None,
) -> Comparison | None:
    """Train the models on the same ids with the same budget, and compare them on the same test.

    None where it was interrupted: the same call goes on with it.
    """
    show = show or Silent()
    folder = Path(out)
    if not minutes and not updates:
        raise UsageError("a comparison needs a budget", "For example:  --minutes 20  or  --updates 5000  (each model)")
    asked = Asked(
        models=names_of(models),
        source=source,
        target=target,
        corpora=_names(corpus),
        valid=_names(valid),
        test=_names(test),
        minutes=minutes,
        updates=updates,
        match_parameters=match_parameters,
        settings=dict(settings or {}),
        seed=seed,
        threads=threads or usable_cores(),
        device=str(choose_device(device)),
    )
    plan, pairs = prepared_plan(folder, asked, show)
    results: dict[str, Result] = {}
    failed: dict[str, str] = {}
    for number, name in enumerate(plan.recipes, 1):
        show.say(f"\n[{number} of {len(plan.recipes)}] {name}: {plan.budget}")
        try:
            result = _one(folder, name, plan, pairs, show)
        except (TongsaError, RuntimeError) as error:  # the others are still worth their time
            failed[name] = str(error)
            show.say(f"{name} failed: {error}")
            continue
        if result is None:
            show.say("the comparison goes on with the same command that began it")
            return None
        results[name] = result
    if not results:
        raise TrainingError("no model could be trained", *(f"{name}: {why}" for name, why in failed.items()))
    comparison = judge_all(plan, results, pairs, Prepared.open(folder / PREPARED).subwords.source, failed)
    _write(folder, comparison, show)
    return comparison


def _one(folder: Path, name: str, plan: Plan, test: Texts, show: Show) -> Result | None:
    """Train and measure a model, as far as that is not done; None where the training was interrupted."""
    stored = stored_result(folder, name)
    if stored and len(stored.translations) == len(test):
        show.say(f"measured before: {folder / MODELS / name}")
        return stored
    directory = folder / MODELS / name
    if not _is_trained(directory):
        run = Run(directory)
        if not run.job_file.is_file():
            share_prepared(Run(folder / PREPARED), run, plan.recipes[name], _options(plan))
        trained = fit_and_publish(run, show)
        if trained is None:
            return None
    shown = pictured(test, Prepared.open(directory).subwords)
    result = measure(name, directory, plan, test, shown, show)
    result.save(folder)
    return result


def _is_trained(directory: Path) -> bool:
    return bool(Run(directory).events("finish"))


def _options(plan: Plan) -> TrainOptions:
    return TrainOptions(
        corpora=tuple(plan.corpora),
        source=plan.source,
        target=plan.target,
        valid=tuple(plan.valid),
        minutes=plan.minutes,
        seed=plan.seed,
        threads=plan.threads,
        device=plan.device,
    )


def _names(names: Names | None) -> list[str]:
    if names is None:
        return []
    return [str(names)] if isinstance(names, str | Path) else [str(name) for name in names]


def _write(folder: Path, comparison: Comparison, show: Show) -> None:
    write_atomically(folder / "comparison.json", json.dumps(comparison.to_values(), indent=1, ensure_ascii=False))
    write_atomically(folder / "comparison.md", markdown(comparison))
    write_atomically(folder / "comparison.html", draw_comparison(comparison))
    show.say(f"\nwritten: {folder / 'comparison.html'}, comparison.md and comparison.json")
