"""Whole trainings in bfloat16, with Muon, with a sampled softmax: resumed, and shared by processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tongsa.config import Recipe
from tongsa.models.speed import training_speed
from tongsa.runs.directory import Run
from tongsa.runs.log import read_log
from tongsa.training import fitting
from tongsa.training.checkpoint import checkpoints
from tongsa.training.fitting import resolved

Train = Callable[..., object]

CONSTANT = {"training.schedule": "constant", "training.updates": "8", "training.peak": "0.01"}


def last_weights(out: Path) -> dict[str, Tensor]:
    return checkpoints(out / "checkpoints")[-1].weights()


@pytest.mark.parametrize(
    ("optimizer", "precision", "softmax", "processes"),
    [
        ("muon", "float32", "full", "1"),
        ("muon", "bfloat16", "sampled", "2"),
        ("adam", "bfloat16", "full", "1"),
        ("adam", "float32", "sampled", "1"),
    ],
)
def test_a_training_that_goes_on_has_the_weights_of_one_that_was_not_stopped(
    train_here: Train, tmp_path: Path, optimizer: str, precision: str, softmax: str, processes: str
) -> None:
    settings = {**CONSTANT, "training.optimizer": optimizer, "training.precision": precision}
    settings["training.softmax"] = softmax
    settings["training.processes"] = processes
    train_here(tmp_path / "straight", settings, threads=int(processes))
    train_here(tmp_path / "stopped", {**settings, "training.updates": "3"}, threads=int(processes))
    train_here(tmp_path / "stopped", {"training.updates": "8"}, resume=True)
    straight, resumed = (last_weights(tmp_path / name) for name in ("straight", "stopped"))
    assert all(torch.equal(weight, resumed[name]) for name, weight in straight.items())


def test_a_sampled_softmax_learns_nearly_what_the_full_one_learns(train_here: Train, tmp_path: Path) -> None:
    """From a quarter of the vocabulary; it is validated with all of it."""
    losses = {}
    for softmax in ("full", "sampled"):
        changes = {"training.softmax": softmax, "training.average": "1", "training.updates": "96"}
        train_here(tmp_path / softmax, changes)
        events = read_log(Run(tmp_path / softmax).log_file)
        losses[softmax] = [event["log_loss"] for event in events if event["event"] == "validation"]
    full, sampled = losses["full"], losses["sampled"]
    assert full[-1] < full[0] - 0.3, "the test should see something learnt"
    assert 0 < abs(sampled[-1] - full[-1]) < 0.2, losses


@pytest.mark.parametrize("softmax", ["full", "sampled"])
def test_processes_that_share_muons_matrices_learn_what_one_learns(
    train_here: Train, tmp_path: Path, softmax: str
) -> None:
    settings = {**CONSTANT, "training.optimizer": "muon", "training.peak": "0.001", "training.weight_decay": "20"}
    settings["training.softmax"] = softmax
    for processes in (1, 2):
        changes = {**settings, "training.processes": str(processes)}
        train_here(tmp_path / str(processes), changes, threads=processes)
    one, two = (last_weights(tmp_path / str(processes)) for processes in (1, 2))
    for name, weight in one.items():
        if not name.endswith("w_k.bias"):  # its gradient is nothing but rounding
            torch.testing.assert_close(weight, two[name], atol=2e-4, rtol=0)


@pytest.mark.parametrize(("faster", "chosen"), [(True, "bfloat16"), (False, "float32")])
def test_the_precision_is_decided_once_and_kept(
    train_here: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faster: bool, chosen: str
) -> None:
    monkeypatch.setattr(fitting, "bfloat16_is_faster", lambda: faster)
    train_here(tmp_path / "a", {**CONSTANT, "training.precision": "auto", "training.updates": "1"})
    monkeypatch.setattr(fitting, "bfloat16_is_faster", lambda: not faster)
    train_here(tmp_path / "a", {"training.updates": "2"}, resume=True)
    assert Run(tmp_path / "a").read_job()[0].training.precision == chosen


def test_a_gpu_keeps_float32_unless_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "bfloat16_is_faster", lambda: True)
    assert resolved(Recipe(), 1, torch.device("cuda")).training.precision == "float32"
    told = Recipe().with_settings({"training.precision": "bfloat16"})
    assert resolved(told, 1, torch.device("cuda")).training.precision == "bfloat16"


def test_measuring_the_speed_leaves_threads_and_random_numbers_as_they_were() -> None:
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    torch.set_num_threads(2)  # the probe itself uses one
    try:
        assert training_speed(2) > 0
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(torch.get_rng_state(), state)
