"""The recipe names the metric that selects checkpoints; one options object goes from the caller to job.json."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

import tongsa
from tongsa.base.errors import RecipeError, UsageError
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.training.checkpoint import checkpoints
from tongsa.translation.translator import Translator

Train = Callable[..., Translator | None]


@pytest.mark.parametrize(("metric", "best"), [("chrf", max), ("log_loss", min)])
def test_checkpoints_are_selected_by_the_metric_of_the_recipe(
    train_here: Train, tmp_path: Path, metric: str, best: Callable[[list[float]], float]
) -> None:
    out = tmp_path / "run"
    changes = {"training.select": metric, "training.updates": "6", "training.validate_every": "2"}
    assert train_here(out, changes) is not None
    run = Run(out)
    scores = [event[metric] for event in run.events("validation")]
    assert len(scores) == 3
    progress = checkpoints(run.checkpoints)[-1].progress()
    assert progress.score == scores[-1]
    assert progress.best_score == best(scores)
    assert metric in run.read_card().scores
    assert "bleu" in run.read_card().scores


def test_a_metric_that_translations_are_not_scored_with_is_refused(train_here: Train, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"training.select is 'accuracy'; it can be log_loss, perplexity, bleu"):
        train_here(tmp_path / "run", {"training.select": "accuracy"})
    with pytest.raises(UsageError, match="unknown metric: blue"):
        train_here(tmp_path / "run", {"training.select": "blue"})
    assert not (tmp_path / "run").exists()


def test_train_takes_every_option_that_has_a_meaning_on_its_own() -> None:
    fields = {field.name: field for field in dataclasses.fields(TrainOptions)}
    parameters = inspect.signature(tongsa.train).parameters
    assert set(fields) - set(parameters) == {"subwords", "teacher", "validates"}, "distil and tune set them"
    assert set(parameters) - set(fields) == {"out", "resume", "show"}
    for name in set(parameters) & set(fields) - {"corpora", "settings"}:
        assert parameters[name].default == fields[name].default, name


def test_the_options_are_kept_in_the_job(train_here: Train, corpus: Path, tmp_path: Path) -> None:
    train_here(tmp_path / "run", {"training.updates": "1"}, seed=7)
    _, job = Run(tmp_path / "run").read_job()
    options = job.options
    assert (options.corpora, options.source, options.target) == ((str(corpus),), "ko", "en")
    assert (options.seed, options.recipe, options.threads, options.device) == (7, "tiny", 1, "cpu")
    assert options.settings["training.updates"] == "1"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"minutes": 0.0}, "--minutes must be above 0"),
        ({"minutes": float("nan")}, "--minutes must be above 0"),
        ({"seed": -1}, "--seed must not be negative"),
        ({"threads": 0}, "--threads must be at least 1"),
        ({"mix": ("old",)}, "--mix needs --valid"),
        ({"init": "x", "recipe": "tiny"}, "--init takes the recipe of its translator"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        TrainOptions(corpora=("corpus",), **options).check()  # type: ignore[arg-type]
