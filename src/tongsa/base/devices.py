"""Devices to compute with: the CPU cores available, and a GPU if there is one."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tongsa.base.errors import UsageError, torch_needed

if TYPE_CHECKING:
    import torch

DRIVERS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")
"""Files created by the drivers of NVIDIA, AMD and WSL. On Linux, if none of them exists, there is no GPU."""


def choose_device(name: str) -> torch.device:
    """Return the torch device; `auto` is a GPU if there is one, else the CPU."""
    import torch

    return torch.device(device_name(name))


def device_name(name: str) -> str:
    """Return the name of the device; imports torch (a second or two) only if there may be a GPU.

    Without torch, `auto` is the CPU.
    """
    if name == "cpu" or (name == "auto" and (not may_have_gpu() or find_spec("torch") is None)):
        return "cpu"
    with torch_needed(f"the device {name}"):
        import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    kind, _, number = name.partition(":")
    if kind == "mps":
        raise UsageError(
            "Apple's GPUs (mps) are not supported: training and search were never tested on one",
            "--device cpu works anywhere, and a CTranslate2 engine is fast on Apple's CPUs.",
        )
    if kind != "cuda" or (number and not number.isdecimal()):
        raise UsageError(f"unknown device: {name}", "Devices: auto, cpu, cuda, or one of several GPUs: cuda:1")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if int(number or 0) >= count:
        raise UsageError(
            f"there is no GPU {name} that PyTorch can use" if count else "there is no GPU that PyTorch can use",
            "`tongsa doctor` shows details; --device cpu works anywhere.",
        )
    return name


def started_by_torchrun() -> bool:
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch compute with one thread for the duration of the block."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def may_have_gpu() -> bool:
    """Return False only if there is certainly no GPU."""
    return not Path("/dev").is_dir() or any(Path(driver).exists() for driver in DRIVERS)


WAITING = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
"""Environment variables that say how the threads of OpenMP wait for each other."""
SPINS = "10000"
"""How often a waiting thread looks before it sleeps; libgomp's own 300,000 take the core from whoever has work."""


def share_cores() -> None:
    """Let threads that wait sleep soon, so that a busy machine stays fast, unless the user has set how they wait.

    OpenMP reads this when torch or CTranslate2 is loaded, so a program calls it first; its sub-processes inherit it.
    """
    if not any(name in os.environ for name in WAITING):
        os.environ["GOMP_SPINCOUNT"] = SPINS


CGROUPS = Path("/sys/fs/cgroup")


def usable_cores() -> int:
    """Count the cores this process may use: under taskset or a container's CPU limit, fewer than the machine has."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min(cores, _cpu_limit())))


def _cpu_limit() -> float:
    """Return the CPU limit of this process's control group and its ancestors, in cores; infinity if there is none."""
    limits = [math.inf]
    try:
        group = Path("/proc/self/cgroup").read_text().split("::", 1)[-1].strip()
    except OSError:  # not Linux
        return math.inf
    folder = CGROUPS / group.lstrip("/")
    for each in (folder, *folder.parents):  # version 2: "200000 100000", or "max 100000"
        if each == CGROUPS.parent:
            break
        limits.append(_quota(each / "cpu.max"))
    quota, period = CGROUPS / "cpu" / "cpu.cfs_quota_us", CGROUPS / "cpu" / "cpu.cfs_period_us"  # version 1
    limits.append(_quota(quota, period))
    return min(limits)


def _quota(*files: Path) -> float:
    try:
        quota, period = " ".join(file.read_text() for file in files).split()
        return float(quota) / float(period) if float(quota) > 0 else math.inf
    except (OSError, ValueError):  # no such file, or "max"
        return math.inf
