"""How many cores a process may use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tongsa.base import devices
from tongsa.base.errors import UsageError


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(devices, "CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(16)), raising=False)
    (tmp_path / "cgroup" / "cpu").mkdir(parents=True)
    return tmp_path / "cgroup"


def test_without_a_limit_all_cores_are_used(groups: Path) -> None:
    assert devices.usable_cores() == 16
    (groups / "cpu.max").write_text("max 100000\n")
    assert devices.usable_cores() == 16


@pytest.mark.parametrize(("limit", "cores"), [("200000 100000", 2), ("150000 100000", 2), ("50000 100000", 1)])
def test_the_limit_of_a_container_counts(groups: Path, limit: str, cores: int) -> None:
    (groups / "cpu.max").write_text(limit + "\n")
    assert devices.usable_cores() == cores


def test_the_limit_of_version_1_counts(groups: Path) -> None:
    (groups / "cpu" / "cpu.cfs_quota_us").write_text("300000\n")
    (groups / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert devices.usable_cores() == 3
    (groups / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
    assert devices.usable_cores() == 16


def test_a_limit_above_the_cores_changes_nothing(groups: Path) -> None:
    (groups / "cpu.max").write_text("6400000 100000\n")
    assert devices.usable_cores() == 16


@pytest.mark.parametrize("given", [{}, {"OMP_WAIT_POLICY": "ACTIVE"}, {"GOMP_SPINCOUNT": "5"}], ids=str)
def test_waiting_threads_sleep_soon_unless_the_user_decides(
    given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", dict(given))
    devices.share_cores()
    assert os.environ == (given or {"GOMP_SPINCOUNT": devices.SPINS})


def test_the_command_line_decides_before_openmp_is_loaded() -> None:
    script = "import os, sys; from tongsa.cli.main import main; main()"
    check = "import atexit; atexit.register(lambda: print(os.environ['GOMP_SPINCOUNT'], 'torch' in sys.modules))"
    environment = {name: value for name, value in os.environ.items() if name not in devices.WAITING}
    command = [sys.executable, "-c", f"import os, sys; {check}; {script}", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.stdout.splitlines()[-1] == f"{devices.SPINS} False", done.stderr


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("mps", "not supported"),
        ("mps:0", "not supported"),
        ("meta", "unknown device: meta"),
        ("gpu", "unknown device: gpu"),
        ("cuda:x", "unknown device: cuda:x"),
        ("cpu:0", "unknown device: cpu:0"),
    ],
)
def test_a_device_that_cannot_be_used_is_refused_with_those_that_can(name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        devices.device_name(name)
    assert "cpu" in str(caught.value)


def test_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    assert devices.device_name("cuda:1") == "cuda:1"
    with pytest.raises(UsageError, match="no GPU cuda:2"):
        devices.device_name("cuda:2")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(UsageError, match="no GPU that PyTorch can use"):
        devices.device_name("cuda")
