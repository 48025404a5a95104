"""A training in another process: the same as one in this process, and it ends with the main process."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.training.conftest import SETTINGS

from tongsa.base.errors import TrainingError
from tongsa.base.progress import Silent
from tongsa.models.weights import read_tensors
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.training.beside import TrainingBeside, training_beside
from tongsa.training.checkpoint import WEIGHTS, latest
from tongsa.training.fitting import fit
from tongsa.training.run import prepare

Prepare = Callable[[str, dict[str, str]], Run]

ENDLESS = {"training.updates": "1000000", "training.checkpoint_every": "1"}


@pytest.fixture
def prepared(corpus: Path, tmp_path: Path) -> Prepare:
    """Makes run directories that can be trained."""

    def make(name: str, changes: dict[str, str]) -> Run:
        run = Run(tmp_path / name)
        options = TrainOptions(
            corpora=(str(corpus),), source="ko", target="en", valid=(str(corpus),), recipe="tiny",
            settings={**SETTINGS, **changes}, threads=1, device="cpu",
        )  # fmt: skip
        prepare(run, options, Silent())
        return run

    return make


def wait_for_an_update(run: Run) -> None:
    while not run.checkpoints.is_dir() or latest(run.checkpoints) is None:
        time.sleep(0.05)


def test_it_trains_the_same_weights_as_this_process(prepared: Prepare) -> None:
    there, here = prepared("there", {"training.updates": "3"}), prepared("here", {"training.updates": "3"})
    with training_beside(there) as other:
        fit(here, Silent())
        assert other.wait()
    trained = [latest(run.checkpoints) for run in (there, here)]
    weights = [read_tensors(each.folder / WEIGHTS) for each in trained if each]
    assert len(weights) == 2
    assert all(weights[0][name].equal(weights[1][name]) for name in weights[1])


def test_stopped_it_saves_everything_and_can_continue(prepared: Prepare) -> None:
    run = prepared("run", ENDLESS)
    with training_beside(run) as other:
        wait_for_an_update(run)
        other.stop()
        assert not other.wait()
    newest = latest(run.checkpoints)
    assert newest is not None
    assert newest.progress().update == newest.update


def test_an_error_beside_it_stops_it(prepared: Prepare) -> None:
    run = prepared("run", ENDLESS)
    kept: list[TrainingBeside] = []

    def fail() -> None:
        with training_beside(run) as other:
            kept.append(other)
            wait_for_an_update(run)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not kept[0].wait()


def test_it_does_not_outlive_the_main_process(prepared: Prepare) -> None:
    run = prepared("run", ENDLESS)
    with training_beside(run) as other:
        wait_for_an_update(run)
        assert other._process.stdin
        other._process.stdin.close()  # as the system does when the main process is gone
        with pytest.raises(TrainingError, match="has ended with exit code 1"):
            other.wait()
    assert latest(run.checkpoints) is not None


def test_its_error_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = Run(tmp_path / "nothing")
    with training_beside(run) as other, pytest.raises(TrainingError, match="exit code 2"):
        other.wait()
    assert "holds no training" in capfd.readouterr().err
