"""Worker processes that train one model together: each takes a share of every update's chunks; gradients are summed.

On a CPU, several processes of one thread each are faster than one process of several threads, so `tongsa train` starts
them; on a cluster `torchrun` starts them. PyTorch's own collectives carry the sums: gloo on the CPU, NCCL on GPUs.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor

from tongsa.base.devices import started_by_torchrun
from tongsa.base.errors import TrainingError
from tongsa.runs.directory import Run

TIMEOUT = timedelta(hours=24)
"""How long a worker waits for another: rank 0 may be preparing a large corpus."""


class LostWorkerError(TrainingError):
    """The worker processes cannot reach each other any more."""


class WorkerError(TrainingError):
    """Training cannot go on in this worker process; the others do not know why."""


class SharedGradients:
    """One vector per worker of one machine, in shared memory.

    To sum them, every worker adds up one stretch of all vectors and writes the sum back into all of them: nothing
    passes through sockets, which would copy a gradient several times over.
    """

    def __init__(self, vectors: Tensor, rank: int) -> None:
        """`vectors` (workers, length) is shared."""
        self.vectors = vectors
        self.mine = vectors[rank]
        share = -(-vectors.shape[1] // len(vectors))
        self.stretch = slice(rank * share, (rank + 1) * share)

    @classmethod
    def open(cls, rank: int, size: int, length: int) -> SharedGradients | None:
        """Called by all workers together; returns None if the system cannot share memory by name."""
        # An anonymous file: it disappears with the last process that has it open, however that process ends.
        file = os.memfd_create("tongsa") if rank == 0 and sys.platform == "linux" else -1
        if file >= 0:
            os.truncate(file, 4 * size * length)
        place = torch.tensor([os.getpid(), file])
        dist.broadcast(place, src=0)
        main_process, file = place.tolist()
        if file < 0:
            return None
        vectors = torch.from_file(f"/proc/{main_process}/fd/{file}", shared=True, size=size * length)
        dist.barrier()
        if rank == 0:
            os.close(file)
        return cls(vectors.view(size, length), rank)

    def sum(self) -> None:
        """Called by all workers together: replaces each vector by the sum of all of them."""
        dist.barrier()
        total, *others = (vector[self.stretch] for vector in self.vectors)
        for other in others:
            total += other
        for other in others:
            other.copy_(total)
        dist.barrier()


@dataclass
class ProcessGroup:
    """The worker processes of a training, and the rank of this one among them."""

    rank: int = 0
    size: int = 1
    one_machine: bool = False
    """All of them run on this machine, without GPUs."""
    shared: SharedGradients | None = None

    @property
    def is_main(self) -> bool:
        """Whether this process is the one that logs and writes files."""
        return self.rank == 0

    def zeros(self, length: int) -> Tensor:
        """A vector of zeros that is summed often; in shared memory if possible."""
        if self.one_machine:
            with _together():
                self.shared = SharedGradients.open(self.rank, self.size, length)
        return torch.zeros(length) if self.shared is None else self.shared.mine

    def sum(self, tensor: Tensor) -> None:
        """Replace the tensor by its sum over the workers."""
        if self.size > 1:
            with _together():
                if self.shared and tensor is self.shared.mine:
                    self.shared.sum()
                else:
                    dist.all_reduce(tensor)

    def broadcast(self, tensor: Tensor) -> None:
        """Replace the tensor by that of the main process."""
        if self.size > 1:
            with _together():
                dist.broadcast(tensor, src=0)

    def gather_rows(self, rows: dict[int, list[int]], count: int) -> list[list[int]]:
        """Collect on every worker the lists of ids that are spread over the workers."""
        width = torch.tensor([max((len(ids) for ids in rows.values()), default=0)])
        if self.size > 1:
            with _together():
                dist.all_reduce(width, op=dist.ReduceOp.MAX)
        table = torch.zeros(count, int(width) + 1, dtype=torch.long)
        for row, ids in rows.items():
            table[row, 0] = len(ids)
            table[row, 1 : len(ids) + 1] = torch.tensor(ids, dtype=torch.long)
        self.sum(table)
        return [row[1 : length + 1] for row, length in zip(table.tolist(), table[:, 0].tolist(), strict=True)]

    def wait(self) -> None:
        if self.size > 1:
            with _together():
                dist.barrier()


@contextmanager
def _together() -> Iterator[None]:
    """For an operation of all workers: if it fails, one of them is gone."""
    try:
        yield
    except RuntimeError as error:
        raise LostWorkerError(
            "a worker process of this training has died, or cannot be reached",
            str(error).partition("\n")[0],
            _CONTINUE,
        ) from error


_CONTINUE = "The last checkpoint is safe. Continue from it:  tongsa resume DIR"


def local_threads(cores: int) -> int:
    """Threads of each process, if the processes that torchrun has started on this machine share its cores."""
    return max(1, cores // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


BACKENDS = {"cpu": "gloo", "cuda": "cpu:gloo,cuda:nccl"}
"""PyTorch's collectives by device. Gradients on GPUs are summed there; what a validation counts is on the CPU."""


@contextmanager
def process_group(rank: int, size: int, rendezvous: str, device: torch.device) -> Iterator[ProcessGroup]:
    """Join the workers as one of them for the duration of the block."""
    if size == 1:
        yield ProcessGroup()
        return
    backend = BACKENDS[device.type]
    dist.init_process_group(backend, init_method=rendezvous, rank=rank, world_size=size, timeout=TIMEOUT)
    try:
        yield ProcessGroup(rank, size, one_machine=not started_by_torchrun() and device.type == "cpu")
    finally:
        dist.destroy_process_group()


@contextmanager
def start_workers(size: int, run: Run, device: torch.device) -> Iterator[ProcessGroup]:
    """Start `size - 1` more worker processes on this machine, and act as the main one for the duration of the block."""
    if size == 1:
        yield ProcessGroup()
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GLOO_SOCKET_IFNAME"] = "lo0" if sys.platform == "darwin" else "lo"
        command = [sys.executable, "-m", "tongsa.training", str(run.path)]
        command += ["--rendezvous", folder, "--size", str(size), "--rank"]
        # Its own process group: Ctrl-C in a terminal goes only to the main process, which stops the workers.
        # Its input is a pipe that only this process holds open: see `end_with_main_process`.
        workers = [
            subprocess.Popen([*command, str(rank)], process_group=0, stdin=subprocess.PIPE) for rank in range(1, size)
        ]
        try:
            _wait_until_started(Path(folder), workers)
            with process_group(0, size, rendezvous(Path(folder)), device) as group:
                yield group
        except LostWorkerError as error:
            raise _death(workers) or error from error
        except BaseException:
            _stop(workers)
            raise
        finally:
            _wait_until_ended(workers)


def rendezvous(folder: Path) -> str:
    """The address at which the workers of one machine find each other."""
    return f"file://{folder}/rendezvous"


def report_started(folder: Path, rank: int) -> None:
    """Tell the main process that this worker has started."""
    _started(folder, rank).touch()


def _started(folder: Path, rank: int) -> Path:
    return folder / f"started-{rank}"


def _wait_until_started(folder: Path, workers: list[subprocess.Popen[bytes]]) -> None:
    """Wait until all workers have started: PyTorch itself would wait for hours for one that has died."""
    while not all(_started(folder, rank).exists() for rank in range(1, len(workers) + 1)):
        ended = [worker.returncode for worker in workers if worker.poll() is not None]
        if ended:
            how, why = explain_end(ended[0])
            raise TrainingError(
                f"a worker process of this training could not start: it has ended {how}",
                why,
                "To train in one process:  --set training.processes=1",
            )
        time.sleep(0.02)


def _stop(workers: list[subprocess.Popen[bytes]]) -> None:
    """They have nothing to save. A launcher (as in a venv on Windows) is killed alone; its worker's input ends."""
    for each in workers:
        assert each.stdin, "it is a pipe"
        with suppress(OSError):
            each.stdin.close()
        each.kill()


def _wait_until_ended(workers: list[subprocess.Popen[bytes]], seconds: float = 10) -> None:
    for worker in workers:
        try:
            worker.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
        if worker.stdin:
            with suppress(OSError):
                worker.stdin.close()


def _death(workers: list[subprocess.Popen[bytes]], seconds: float = 5) -> TrainingError | None:
    """Which worker ended first, and how; the others are stopped."""
    end = time.monotonic() + seconds
    while not (ended := [worker for worker in workers if worker.poll() is not None]) and time.monotonic() < end:
        time.sleep(0.02)
    _stop(workers)
    if not ended:
        return None
    how, why = explain_end(ended[0].returncode)
    return TrainingError(f"a worker process of this training has died: it has ended {how}", why, _CONTINUE)


def explain_end(code: int) -> tuple[str, str]:
    """How a process has ended, by its exit code, and the likely reason."""
    if code >= 0:
        return f"with exit code {code}", "Its own message is above."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "unknown"
    reasons = {
        "SIGKILL": "Somebody killed it, or the system, which does so when memory runs out (see `dmesg`): "
        "a smaller training.chunk_tokens needs less.",
        "SIGTERM": "Somebody ended it.",
    }
    return f"by signal {-code} ({name})", reasons.get(name, "It has crashed.")


def end_with_main_process() -> None:
    """In a worker: leave Ctrl-C and SIGTERM to the main process, which stops all workers, and never outlive it."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    end_with_input()


def end_with_input() -> None:
    """End this process when its standard input ends.

    That is a pipe whose other end only the main process has: it ends when that process does, however it ends, on every
    system, and also if a launcher stands between the two (as in a venv on Windows).
    """

    def wait() -> None:
        while os.read(0, 1):
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -2, -3, -4  # <malloc.h>


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Keep freed memory in the process while a training allocates the same large buffers thousands of times over.

    glibc gives large buffers back to the system at once, which then hands them out again page by zeroed page. At the
    end of the block, what is free is given back. Elsewhere than on glibc this does nothing.
    """
    try:
        library = ctypes.CDLL(None)
        mallopt, malloc_trim = library.mallopt, library.malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library
        yield
        return
    mallopt(_MMAP_MAX, 0)
    mallopt(_TRIM_THRESHOLD, 2**31 - 1)
    mallopt(_TOP_PAD, 64 << 20)
    try:
        yield
    finally:
        mallopt(_MMAP_MAX, 65536)
        mallopt(_MMAP_THRESHOLD, 32 << 20)  # the most that glibc allows
        mallopt(_TRIM_THRESHOLD, 64 << 20)
        mallopt(_TOP_PAD, 1 << 20)
        malloc_trim(0)
