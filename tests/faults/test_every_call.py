"""Every call that changes a file fails once, and every call is once the last of its process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from faults.contract import Scenario, Trial, command
from faults.scenarios import QUICK
from tongsa.base.errors import TongsaError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="open files are known by /proc")

STEPS = {"published translator": 3, "corpus convert": 3, "corpus split": 5}
"""Of these, one call in so many is tried; `python -m faults.sweep` tries all of them."""


@pytest.mark.parametrize("name", QUICK)
def test_every_call_may_fail(tmp_path: Path, name: str) -> None:
    assert Trial(QUICK[name], tmp_path).fail_every_call(step=STEPS.get(name, 1)) > 3


@pytest.mark.parametrize("name", QUICK)
def test_every_call_may_be_the_last(tmp_path: Path, name: str) -> None:
    assert Trial(QUICK[name], tmp_path).end_at_every_call(step=STEPS.get(name, 1)) > 3


def test_the_contract_notices_a_file_that_is_written_in_place(tmp_path: Path) -> None:
    def prepare(folder: Path) -> None:
        (folder / "out").write_text("old")

    def run(folder: Path) -> None:
        (folder / "out").write_text("of the new one, half is written")

    with pytest.raises(AssertionError, match="neither old nor new"):
        Trial(Scenario(prepare, run), tmp_path).end_at_every_call()


def test_a_command_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(TongsaError, match="there is no corpus"):
        command("corpus", "convert", tmp_path / "absent", "--from", "ko", "--to", "en", "--out", tmp_path / "out.tsv")
