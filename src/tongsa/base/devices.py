"""Where to compute: a CPU, or a GPU where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tongsa.base.errors import UsageError

if TYPE_CHECKING:
    import torch

DRIVERS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")
"""What the drivers of NVIDIA, AMD and WSL put there: without any of them on Linux, there is no GPU."""


def choose_device(name: str) -> torch.device:
    """`auto` takes a GPU where there is one."""
    import torch

    return torch.device(device_name(name))


def device_name(name: str) -> str:
    """The same by name; torch, which takes a second or two to import, is asked only where there may be a GPU."""
    if name == "cpu" or (name == "auto" and not may_have_gpu()):
        return "cpu"
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise UsageError(
            "there is no GPU that PyTorch can use", "tongsa doctor tells more; --device cpu works anywhere."
        )
    try:
        return str(torch.device(name))
    except RuntimeError as error:
        raise UsageError(f"{name} is no device", "Devices: auto, cpu, cuda") from error


def may_have_gpu() -> bool:
    """False where there is certainly none."""
    return not Path("/dev").is_dir() or any(Path(driver).exists() for driver in DRIVERS)
