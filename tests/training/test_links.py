"""A training neither writes nor deletes anything outside its own directory, whatever a stranger has linked there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import tongsa
from tongsa.base.errors import DirectoryError
from tongsa.training.checkpoint import prune

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "translator-1"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A copy of a training that could be resumed."""
    return Path(shutil.copytree(GOLDEN, tmp_path / "run"))


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize(
    "name", ["checkpoints", "data", "log.jsonl", "report.html", "weights.safetensors", "tensorboard"]
)
def test_resuming_refuses_links_out_of_the_directory(run: Path, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    (outside / ".precious").mkdir(parents=True)
    if (run / name).exists():
        (run / name).rename(outside / name)
    (run / name).symlink_to(outside / name)
    before = everything(outside)
    with pytest.raises(DirectoryError, match=f"{name} is a link out of the directory"):
        tongsa.resume(run)
    assert everything(outside) == before


def test_resuming_refuses_pipes(run: Path) -> None:
    os.mkfifo(run / "checkpoints" / "pipe")
    with pytest.raises(DirectoryError, match="pipe is not a regular file"):
        tongsa.resume(run)


def test_a_new_training_refuses_links_too(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "data").symlink_to(tmp_path / "outside")
    with pytest.raises(DirectoryError, match="data is a link out of the directory"):
        tongsa.train(tmp_path / "corpus", source="ko", target="en", out=tmp_path / "run")
    assert everything(tmp_path / "outside") == []


def test_pruning_removes_only_what_checkpoints_left(tmp_path: Path) -> None:
    for name in (".00000010.old", ".00000010.77.tmp", ".git", ".config"):
        (tmp_path / name).mkdir()
    prune(tmp_path, 1, None)
    assert everything(tmp_path) == [".config", ".git"]
