"""How many cores a process may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tongsa.base import devices


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
