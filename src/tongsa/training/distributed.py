"""Workers that train one model together: each takes a share of every update's chunks; gradients are summed.

On a CPU a few processes of one thread each are faster than one process of several, so `tongsa train` starts them by
itself; on a cluster `torchrun` starts them. PyTorch's own collectives carry the sums: gloo on the CPU, NCCL on GPUs.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor

from tongsa.base.errors import TrainingError
from tongsa.training.board import Board

PATIENCE = timedelta(hours=24)
"""How long a worker waits for another: rank 0 may be preparing a large corpus."""


@dataclass
class Team:
    """The workers of a training, and which of them this process is."""

    rank: int = 0
    size: int = 1
    neighbours: bool = False
    """They are processes of one machine, without GPUs."""
    board: Board | None = None

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def zeros(self, length: int) -> Tensor:
        """For a long vector that is summed often: where it can be, in memory that all workers see."""
        if self.neighbours:
            self.board = Board.open(self.rank, self.size, length)
        return torch.zeros(length) if self.board is None else self.board.mine

    def sum(self, tensor: Tensor) -> None:
        """Replace the tensor by its sum over the workers."""
        if self.size > 1:
            try:
                if self.board and tensor is self.board.mine:
                    self.board.sum()
                else:
                    dist.all_reduce(tensor)
            except RuntimeError as error:
                raise TrainingError(
                    "a worker process of this training has died",
                    "Perhaps the memory was used up: a smaller training.chunk_tokens needs less.",
                    "The last checkpoint is safe: run the same command again with --resume.",
                ) from error

    def share_rows(self, rows: dict[int, list[int]], count: int) -> list[list[int]]:
        """Lists of ids, of which each worker has some, collected on all of them."""
        width = torch.tensor([max((len(ids) for ids in rows.values()), default=0)])
        if self.size > 1:
            dist.all_reduce(width, op=dist.ReduceOp.MAX)
        table = torch.zeros(count, int(width) + 1, dtype=torch.long)
        for row, ids in rows.items():
            table[row, 0] = len(ids)
            table[row, 1 : len(ids) + 1] = torch.tensor(ids, dtype=torch.long)
        self.sum(table)
        return [row[1 : length + 1] for row, length in zip(table.tolist(), table[:, 0].tolist(), strict=True)]

    def wait(self) -> None:
        if self.size > 1:
            dist.barrier()


def started_by_torchrun() -> bool:
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


@contextmanager
def join(rank: int, size: int, rendezvous: str, device: torch.device) -> Iterator[Team]:
    """Be one of the workers while the block lasts."""
    if size == 1:
        yield Team()
        return
    backend = "nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend, init_method=rendezvous, rank=rank, world_size=size, timeout=PATIENCE)
    try:
        yield Team(rank, size, neighbours=not started_by_torchrun() and device.type == "cpu")
    finally:
        dist.destroy_process_group()


@contextmanager
def lead(size: int, worker: Sequence[str], device: torch.device) -> Iterator[Team]:
    """Start `size - 1` more processes on this machine with the command `worker`, and lead them."""
    if size == 1:
        yield Team()
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GLOO_SOCKET_IFNAME"] = "lo0" if sys.platform == "darwin" else "lo"
        meeting = Path(folder)
        command = [sys.executable, "-m", "tongsa.training.worker", *worker]
        command += ["--meeting", folder, "--leader", str(os.getpid()), "--size", str(size), "--rank"]
        # A process group of its own: Ctrl-C on a terminal is for the leader, who tells the workers.
        workers = [subprocess.Popen([*command, str(rank)], process_group=0) for rank in range(1, size)]
        try:
            _gather(meeting, workers)
            with join(0, size, rendezvous(meeting), device) as team:
                yield team
        except BaseException:
            for each in workers:  # they hold nothing that must be saved
                each.kill()
            raise
        finally:
            _dismiss(workers)


def rendezvous(meeting: Path) -> str:
    """Where PyTorch lets the workers of one machine find each other."""
    return f"file://{meeting}/rendezvous"


def arrive(meeting: Path, rank: int) -> None:
    """Tell the leader that this worker has started."""
    (meeting / f"arrived-{rank}").touch()


def _gather(meeting: Path, workers: list[subprocess.Popen[bytes]]) -> None:
    """Wait until all workers have started: PyTorch itself would wait for hours for one that has died."""
    while not all((meeting / f"arrived-{rank}").exists() for rank in range(1, len(workers) + 1)):
        ended = [worker.returncode for worker in workers if worker.poll() is not None]
        if ended:
            raise TrainingError(
                f"a worker process of this training could not start (exit code {ended[0]})",
                "What it said stands above. One process needs no others:  --set training.processes=1",
            )
        time.sleep(0.02)


def _dismiss(workers: list[subprocess.Popen[bytes]]) -> None:
    for worker in workers:
        try:
            worker.wait(timeout=10)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()


def follow(leader: int) -> None:
    """For a started worker: leave Ctrl-C to the leader, and never outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        die_with_parent = 1  # PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(die_with_parent, signal.SIGKILL)
    if os.getppid() != leader:  # it died before we asked to be told
        sys.exit(1)
