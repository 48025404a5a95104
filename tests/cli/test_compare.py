"""`tongsa compare`: what is refused before anything is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Tongsa


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "budget"),
        (["--minutes", "0"], "--minutes must be above 0"),
        (["--updates", "0"], "--updates must be at least 1"),
        (["--updates", "5", "--seed", "-1"], "--seed"),
        (["--updates", "5", "--set", "training.peak"], "has no value"),
        (["--updates", "5", "--set", "model.heads=2"], "unknown key model.heads"),
        (["--updates", "5", "--models", "lstm,transfomer"], "did you mean transformer"),
        (["--updates", "5", "--models", ","], "no models to compare"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(tongsa: Tongsa, tmp_path: Path, options: list[str], said: str) -> None:
    start = ["compare", "nowhere/train", "--from", "ko", "--to", "en", "--out", str(tmp_path / "out")]
    models = [] if "--models" in options else ["--models", "lstm,transformer"]
    assert said in tongsa.refuses(*start, *models, *options)
    assert not (tmp_path / "out").exists()
