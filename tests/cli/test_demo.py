"""`tongsa demo --out` replaces what an earlier demo made, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Tongsa

from small_translators import random_translator
from tongsa.base.errors import DirectoryError
from tongsa.cli.demo import MARKER
from tongsa.runs.directory import Run


def test_files_of_the_user_are_neither_deleted_nor_overwritten(tongsa: Tongsa, tmp_path: Path) -> None:
    mine = random_translator(tmp_path / "runs" / "ko-en")
    (tmp_path / "runs" / "corpus").mkdir()
    text = tmp_path / "runs" / "corpus" / "train.ko"
    text.write_text("내 글", encoding="utf-8")
    before = sorted(path.name for path in mine.iterdir())
    assert "the demo did not make" in tongsa.refuses("demo", "--out", tmp_path / "runs", "--pairs", "100")
    assert sorted(path.name for path in mine.iterdir()) == before
    assert text.read_text(encoding="utf-8") == "내 글"


def test_a_file_in_the_demos_translator_that_is_not_its_own_is_kept(tongsa: Tongsa, tmp_path: Path) -> None:
    demos = random_translator(tmp_path / "demo" / "ko-en")
    (tmp_path / "demo" / MARKER).touch()
    (demos / "my notes.txt").write_text("keep", encoding="utf-8")
    assert "my notes.txt does not belong to a training" in tongsa.refuses("demo", "--out", tmp_path / "demo")
    assert (demos / "translator.json").is_file()


def test_a_training_removes_itself_and_nothing_else(tmp_path: Path) -> None:
    run = Run(random_translator(tmp_path / "run"))
    run.checkpoints.mkdir()
    (run.path / "other").mkdir()
    with pytest.raises(DirectoryError, match="other does not belong"):
        run.remove()
    assert run.card_file.is_file()
    (run.path / "other").rmdir()
    run.remove()
    assert not run.path.exists()
    run.remove()
