"""Worker processes."""

from __future__ import annotations

import multiprocessing
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from tongsa.base.errors import TrainingError
from tongsa.runs.directory import Run
from tongsa.training.workers import ProcessGroup, process_group, rendezvous, start_workers


def test_a_single_process_sums_and_waits_for_nobody() -> None:
    tensor = torch.tensor([1.0, 2.0])
    ProcessGroup().sum(tensor)
    ProcessGroup().wait()
    assert tensor.tolist() == [1.0, 2.0]
    assert ProcessGroup().is_main


def test_rows_are_given_back_in_their_places() -> None:
    assert ProcessGroup().gather_rows({2: [5], 0: [1, 2, 3], 1: []}, 3) == [[1, 2, 3], [], [5]]
    assert ProcessGroup().gather_rows({}, 0) == []


def test_one_process_starts_no_others() -> None:
    with start_workers(1, Run(Path("nowhere")), torch.device("cpu")) as group:
        assert group == ProcessGroup(0, 1)


def test_a_worker_that_cannot_start_is_told_of_soon(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """PyTorch would wait for it for a day."""
    began = time.monotonic()
    with (
        pytest.raises(TrainingError, match="could not start"),
        start_workers(2, Run(tmp_path / "none"), torch.device("cpu")),
    ):
        raise AssertionError("the workers have started")
    assert time.monotonic() - began < 300
    assert "holds no training" in capfd.readouterr().err


def work(rank: int, folder: str, found: Any) -> None:
    """What a worker has after two sums of a long vector, and one of another."""
    with process_group(rank, 3, rendezvous(Path(folder)), torch.device("cpu")) as group:
        long = group.zeros(1000)
        for times in (1, 2):
            long.copy_(torch.arange(1000.0) * (rank + times))
            group.sum(long)
            found.put((rank, times, torch.equal(long, torch.arange(1000.0) * (3 + 3 * times))))
        short = torch.tensor([rank])
        group.sum(short)
        found.put((rank, "shared", group.shared is not None and int(short) == 3))
        found.close()
        found.join_thread()  # what was put is on its way before the process ends


@pytest.mark.skipif(sys.platform != "linux", reason="memory is shared by name on Linux alone")
def test_workers_of_one_machine_sum_in_memory_that_all_of_them_see(tmp_path: Path) -> None:
    """Three, so that the vector is no multiple of the workers."""
    spawn = multiprocessing.get_context("spawn")
    found = spawn.Queue()
    workers = [spawn.Process(target=work, args=(rank, str(tmp_path), found)) for rank in range(3)]
    for worker in workers:
        worker.start()
    answers = [found.get(timeout=60) for _ in range(9)]
    for worker in workers:
        worker.join()
    assert all(right for _, _, right in answers), answers
    assert {(rank, what) for rank, what, _ in answers} == {(r, w) for r in range(3) for w in (1, 2, "shared")}
