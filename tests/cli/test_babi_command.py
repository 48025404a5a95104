from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Tongsa

import small_stories as town


def test_babi_prints_the_errors_by_task_and_where_the_hops_look(tongsa: Tongsa, tmp_path: Path) -> None:
    data, out = town.folder(tmp_path / "data"), tmp_path / "out"
    done = tongsa("babi", data, "--epochs", "1", "--hops", "2", "--show", "1", "--out", out)
    assert done.code == 0, done.err
    assert "mean error" in done.out
    assert "hop 2" in done.out
    values = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert values["settings"]["hops"] == 2
    again = tongsa("babi", data, "--epochs", "1", "--hops", "2", "--show", "1", "--out", out, "--resume")
    assert again.out == done.out


def test_each_task_alone_and_only_those_that_are_wanted(tongsa: Tongsa, tmp_path: Path) -> None:
    data, out = town.folder(tmp_path / "data"), tmp_path / "out"
    done = tongsa("babi", data, "--alone", "--tasks", "2", "--epochs", "1", "--out", out)
    assert done.code == 0, done.err
    assert [path.name for path in out.iterdir() if path.is_dir()] == ["task-2-1"]


def test_babi_refuses_what_makes_no_sense(tongsa: Tongsa, tmp_path: Path) -> None:
    data = town.folder(tmp_path / "data")
    assert "--hops must be at least 1" in tongsa.refuses("babi", data, "--hops", "0", "--out", tmp_path / "out")
    assert "numbers with commas" in tongsa.refuses("babi", data, "--tasks", "one", "--out", tmp_path / "out")
    assert "is not a folder" in tongsa.refuses("babi", tmp_path / "nowhere", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
