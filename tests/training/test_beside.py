"""A training in another process: the same as one in this process, and it ends with the main process."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import pytest
from tests.training.conftest import SETTINGS

from tongsa.base.errors import TrainingError
from tongsa.base.progress import Silent
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.training.beside import TrainingBeside, training_beside
from tongsa.training.checkpoint import latest
from tongsa.training.run import train_with


@pytest.fixture
def options(corpus: Path) -> TrainOptions:
    settings = {**SETTINGS, "training.updates": "3"}
    return TrainOptions(
        corpora=(str(corpus),), source="ko", target="en", valid=(str(corpus),), recipe="tiny", settings=settings,
        threads=1, device="cpu",
    )  # fmt: skip


@pytest.fixture
def endless(options: TrainOptions) -> TrainOptions:
    settings = {**options.settings, "training.updates": "1000000", "training.checkpoint_every": "1"}
    return dataclasses.replace(options, settings=settings)


def wait_for_an_update(run: Run) -> None:
    while not run.checkpoints.is_dir() or latest(run.checkpoints) is None:
        time.sleep(0.05)


def test_it_trains_the_same_weights_as_this_process(options: TrainOptions, tmp_path: Path) -> None:
    there, here = Run(tmp_path / "there"), Run(tmp_path / "here")
    with training_beside(options, there) as other:
        train_with(options, here, Silent())
        assert other.wait()
    assert there.weights_file.read_bytes() == here.weights_file.read_bytes()


def test_stopped_it_saves_everything_and_can_continue(endless: TrainOptions, tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    with training_beside(endless, run) as other:
        wait_for_an_update(run)
        other.stop()
        assert not other.wait()
    newest = latest(run.checkpoints)
    assert newest is not None
    assert newest.progress().update == newest.update
    assert not run.card_file.is_file()


def test_an_error_beside_it_stops_it(endless: TrainOptions, tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    kept: list[TrainingBeside] = []

    def fail() -> None:
        with training_beside(endless, run) as other:
            kept.append(other)
            wait_for_an_update(run)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not kept[0].wait()


def test_it_does_not_outlive_the_main_process(endless: TrainOptions, tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    with training_beside(endless, run) as other:
        wait_for_an_update(run)
        assert other._process.stdin
        other._process.stdin.close()  # as the system does when the main process is gone
        with pytest.raises(TrainingError, match="has ended with exit code 1"):
            other.wait()
    assert latest(run.checkpoints) is not None


def test_its_error_is_told(options: TrainOptions, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    wrong = dataclasses.replace(options, corpora=(str(tmp_path / "nothing"),))
    with training_beside(wrong, Run(tmp_path / "run")) as other, pytest.raises(TrainingError, match="exit code 2"):
        other.wait()
    assert "nothing" in capfd.readouterr().err
