from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Tongsa

from tongsa.runs.directory import Run


def test_lm_measures_all_models_on_the_same_words(tongsa: Tongsa, tmp_path: Path) -> None:
    train, valid = tmp_path / "train.en", tmp_path / "valid.en"
    train.write_text("The cat sees the dog.\nThe dog sleeps.\n" * 20, encoding="utf-8")
    valid.write_text("The dog sees the bird.\n", encoding="utf-8")
    small = ("--models", "memory-network,lstm", "--width", "8", "--hops", "2", "--memories", "5", "--epochs", "1")
    small = (*small, "--set", "training.peak=0.007", "--out", tmp_path / "lm")
    done = tongsa("lm", train, "--valid", valid, "--test", valid, *small)
    assert done.code == 0, done.err
    assert "modified Kneser-Ney" in done.out
    values = json.loads((tmp_path / "lm" / "results.json").read_text(encoding="utf-8"))
    recipes = [Run(tmp_path / "lm" / name).read_card().recipe for name in ("memory-network", "lstm")]
    assert all(recipe.training.peak == 0.007 for recipe in recipes), "--set changes every network's recipe"
    assert values["held_out"] == {"valid": 7, "test": 7}
    assert values["unknown"]["valid"] == 1 / 7
    assert set(values["perplexity"]) == {"trigram", "memory-network", "lstm"}
    assert all(found["valid"] == found["test"] for found in values["perplexity"].values())
    assert "already contains language models" in tongsa.refuses("lm", train, "--valid", valid, *small)
    assert tongsa("lm", train, "--valid", valid, "--test", valid, *small, "--resume").out == done.out


def test_lm_refuses_text_that_is_not_there(tongsa: Tongsa, tmp_path: Path) -> None:
    assert "cannot be read" in tongsa.refuses(
        "lm", tmp_path / "no.en", "--valid", tmp_path / "no.en", "--out", tmp_path
    )
