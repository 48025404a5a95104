"""Trainings that begin with a lexicon of their text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

import tongsa
from tongsa.base.errors import RecipeError
from tongsa.data.prepare import Prepared
from tongsa.models.lexical_start import start_as_lexicon
from tongsa.models.transformer import Transformer
from tongsa.models.weights import build_model, named_weights, read_tensors
from tongsa.runs.directory import Run
from tongsa.runs.log import read_log
from tongsa.training.checkpoint import latest

Train = Callable[..., tongsa.Translator | None]

LEXICON = {"training.initial_weights": "lexicon", "model.d_model": "64", "training.validate_every": "24"}
STILL = {"training.peak": "1e-12", "training.warmup": "1", "training.schedule": "constant", "training.updates": "1"}


def last_weights(path: Path) -> dict[str, Tensor]:
    checkpoint = latest(Run(path).checkpoints)
    assert checkpoint
    return checkpoint.weights()


@pytest.mark.parametrize("processes", [1, 2])
def test_the_first_update_begins_with_the_lexicon(train_here: Train, tmp_path: Path, processes: int) -> None:
    out = tmp_path / "t"
    train_here(out, {**LEXICON, **STILL, "training.processes": str(processes)}, threads=processes)
    data = Prepared.open(out)
    torch.manual_seed(1)
    model = build_model(Run(out).read_card().recipe.model, data.subwords)
    assert isinstance(model, Transformer)
    start_as_lexicon(model, data.train, seed=1)
    found = last_weights(out)
    for name, value in named_weights(model).items():
        torch.testing.assert_close(found[name], value, rtol=0, atol=1e-4)


def test_it_learns_faster_than_from_random_weights(train_here: Train, tmp_path: Path) -> None:
    losses = {}
    for start in ("random", "lexicon"):
        train_here(tmp_path / start, {**LEXICON, "training.initial_weights": start})
        events = [event for event in read_log(Run(tmp_path / start).log_file) if event["event"] == "validation"]
        losses[start] = events[-1]["log_loss"]
    assert losses["lexicon"] < losses["random"] - 0.1, losses


@pytest.mark.parametrize("processes", [1, 2])
def test_a_training_that_goes_on_has_the_weights_of_one_that_was_not_stopped(
    train_here: Train, tmp_path: Path, processes: int
) -> None:
    settings = {**LEXICON, "training.schedule": "constant", "training.processes": str(processes)}
    train_here(tmp_path / "straight", {**settings, "training.updates": "6"}, threads=processes)
    train_here(tmp_path / "stopped", {**settings, "training.updates": "3"}, threads=processes)
    train_here(tmp_path / "stopped", {"training.updates": "6"}, resume=True)
    straight, resumed = last_weights(tmp_path / "straight"), last_weights(tmp_path / "stopped")
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)


def test_fine_tuning_begins_with_the_weights_of_the_translator(train_here: Train, tmp_path: Path, corpus: Path) -> None:
    """It takes over the recipe, lexicon and all."""
    first, second = tmp_path / "t", tmp_path / "u"
    train_here(first, {**LEXICON, "training.updates": "3"})
    tongsa.train(corpus, source="ko", target="en", init=first, out=second, settings=STILL, threads=1)
    given, found = read_tensors(Run(second).initial_weights_file), last_weights(second)
    for name, value in given.items():
        torch.testing.assert_close(found[name], value, rtol=0, atol=1e-6)


@pytest.mark.parametrize("architecture", ["lstm", "convs2s"])
def test_other_architectures_refuse_it_before_anything_is_read(tmp_path: Path, architecture: str) -> None:
    with pytest.raises(RecipeError, match="only a transformer can start so"):
        tongsa.train(
            tmp_path / "nowhere",
            source="ko",
            target="en",
            out=tmp_path / "t",
            recipe=architecture,
            settings={"training.initial_weights": "lexicon"},
        )
