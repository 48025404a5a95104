"""Worker processes."""

from __future__ import annotations

import multiprocessing
import platform
import resource
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist

from tongsa.base.errors import TrainingError
from tongsa.base.progress import Silent
from tongsa.runs.directory import Run
from tongsa.runs.job import Job, TrainOptions
from tongsa.training import workers as module
from tongsa.training.fitting import _mention_other_gpus, _threads
from tongsa.training.workers import (
    ProcessGroup,
    explain_end,
    freed_memory_kept,
    process_group,
    rendezvous,
    start_workers,
)


def test_a_single_process_sums_and_waits_for_nobody() -> None:
    tensor = torch.tensor([1.0, 2.0])
    ProcessGroup().sum(tensor)
    ProcessGroup().broadcast(tensor)
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
    with (
        pytest.raises(TrainingError, match="could not start"),
        start_workers(2, Run(tmp_path / "none"), torch.device("cpu")),
    ):
        raise AssertionError("the workers have started")
    assert "holds no training" in capfd.readouterr().err


def work(rank: int, folder: str, found: Any) -> None:
    """What a worker has after two sums of a long vector, one of another, and a broadcast."""
    with process_group(rank, 3, rendezvous(Path(folder)), torch.device("cpu")) as group:
        long = group.zeros(1000)
        for times in (1, 2):
            long.copy_(torch.arange(1000.0) * (rank + times))
            group.sum(long)
            found.put((rank, times, torch.equal(long, torch.arange(1000.0) * (3 + 3 * times))))
        short = torch.tensor([rank])
        group.sum(short)
        found.put((rank, "shared", group.shared is not None and int(short) == 3))
        own = torch.tensor([rank + 7])
        group.broadcast(own)
        found.put((rank, "broadcast", int(own) == 7))
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
    answers = [found.get(timeout=600) for _ in range(12)]
    for worker in workers:
        worker.join()
    assert all(right for _, _, right in answers), answers
    expected = {(rank, what) for rank in range(3) for what in (1, 2, "shared", "broadcast")}
    assert {(rank, what) for rank, what, _ in answers} == expected


def test_the_end_of_a_worker_is_named_by_its_signal_or_exit_code() -> None:
    assert explain_end(-9)[0] == "by signal 9 (SIGKILL)"
    assert "memory" in explain_end(-9)[1]
    assert explain_end(-11)[0] == "by signal 11 (SIGSEGV)"
    assert explain_end(3)[0] == "with exit code 3"
    for code in (-15, -11, 3):
        assert "memory" not in explain_end(code)[1], "memory is blamed only for what it may have done"


def join(rank: int, folder: str, found: Any) -> None:
    """Sum something on the CPU, as a validation does, in a group that has gloo where there would be NCCL."""
    module.BACKENDS["cuda"] = module.BACKENDS["cuda"].replace("nccl", "gloo")
    with process_group(rank, 2, rendezvous(Path(folder)), torch.device("cuda")) as group:
        numbers = torch.tensor([rank + 1.0])
        group.sum(numbers)
        rows = group.gather_rows({rank: [rank] * (rank + 1)}, 2)
        group.wait()
        found.put((float(numbers), rows))
    found.close()
    found.join_thread()


@pytest.mark.skipif(not dist.is_gloo_available(), reason="needs gloo")
def test_a_group_of_gpus_also_sums_what_is_on_the_cpu(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    found = spawn.Queue()
    processes = [spawn.Process(target=join, args=(rank, str(tmp_path), found)) for rank in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [found.get(timeout=600) for _ in processes] == [(3.0, [[0], [1, 1]])] * 2


@pytest.mark.skipif(not dist.is_gloo_available(), reason="needs gloo")
def test_a_group_that_knows_only_gpus_cannot_sum_what_is_on_the_cpu(tmp_path: Path) -> None:
    """Why there are two back ends: this is what NCCL alone would do, and how its failure is told."""
    dist.init_process_group("cuda:gloo", init_method=rendezvous(tmp_path), rank=0, world_size=1)
    try:
        with pytest.raises(TrainingError, match="No backend type associated with device type cpu"):
            ProcessGroup(0, 2).sum(torch.ones(1))
    finally:
        dist.destroy_process_group()


def test_processes_of_torchrun_share_the_cores_of_their_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(options=TrainOptions(corpora=(), threads=8), device="cpu", threads=5)
    assert _threads(job) == 5
    for name, value in {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4"}.items():
        monkeypatch.setenv(name, value)
    assert _threads(job) == 2
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "16")
    assert _threads(job) == 1


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told to keep memory")
def test_freed_memory_is_kept_for_the_time_of_a_training_and_given_back_at_its_end() -> None:
    with freed_memory_kept():
        before = resident()
        tensors = [torch.ones(2**20) for _ in range(64)]  # 256 MB
        del tensors
        kept = resident() - before
    left = resident() - before
    assert kept > 150 * 2**20
    assert left < kept - 100 * 2**20


def test_other_gpus_are_mentioned_with_the_command_that_uses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lines(Silent):
        def __init__(self) -> None:
            self.said: list[str] = []

        def say(self, text: str) -> None:
            self.said.append(text)

    show = Lines()
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    _mention_other_gpus(torch.device("cpu"), show)
    assert show.said == []
    _mention_other_gpus(torch.device("cuda"), show)
    assert "one of 4 GPUs" in show.said[0]
    assert "torchrun --nproc-per-node 4 -m tongsa" in show.said[0]
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "4")
    _mention_other_gpus(torch.device("cuda"), show)
    assert len(show.said) == 1
