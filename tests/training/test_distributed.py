"""Teams of workers, as far as one process can show."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch

from tongsa.errors import TrainingError
from tongsa.training.distributed import Team, lead


def test_a_team_of_one_sums_and_waits_for_nobody() -> None:
    tensor = torch.tensor([1.0, 2.0])
    Team().sum(tensor)
    Team().wait()
    assert tensor.tolist() == [1.0, 2.0]
    assert Team().leads


def test_rows_are_given_back_in_their_places() -> None:
    assert Team().share_rows({2: [5], 0: [1, 2, 3], 1: []}, 3) == [[1, 2, 3], [], [5]]
    assert Team().share_rows({}, 0) == []


def test_one_process_starts_no_others() -> None:
    with lead(1, ["nowhere"], torch.device("cpu")) as team:
        assert team == Team(0, 1)


def test_a_worker_that_cannot_start_is_told_of_soon(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """PyTorch would wait for it for a day."""
    began = time.monotonic()
    with pytest.raises(TrainingError, match="could not start"), lead(2, [str(tmp_path / "none")], torch.device("cpu")):
        raise AssertionError("there is nobody to lead")
    assert time.monotonic() - began < 300
    assert "holds no training" in capfd.readouterr().err
