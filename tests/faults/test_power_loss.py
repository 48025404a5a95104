"""After a loss of power at any point the last good state or the new one is found, and the next run succeeds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from faults.contract import Scenario, Trial
from faults.power import lose_power
from faults.scenarios import QUICK

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="open files are known by /proc")


@pytest.mark.parametrize("name", [name for name in QUICK if name != "corpus split"])  # which is like "corpus convert"
def test_a_loss_of_power_leaves_the_old_state_or_the_new_one(tmp_path: Path, name: str) -> None:
    assert lose_power(Trial(QUICK[name], tmp_path)) > 5


def old(folder: Path) -> None:
    (folder / "file").write_text("old")


def renamed_without_flush(folder: Path) -> None:
    (folder / "temporary").write_text("new")
    (folder / "temporary").replace(folder / "file")


def written_in_place(folder: Path) -> None:
    (folder / "file").write_text("newer")


@pytest.mark.parametrize("run", [renamed_without_flush, written_in_place])
def test_the_model_finds_writes_that_are_not_safe(tmp_path: Path, run: object) -> None:
    with pytest.raises(AssertionError):
        lose_power(Trial(Scenario(old, run), tmp_path))  # type: ignore[arg-type]
