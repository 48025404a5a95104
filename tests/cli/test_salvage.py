"""`--salvage`: the readable part of a damaged file, with a count, wherever corpora are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Tongsa

from tongsa.demo.grammar import write_pairs

SMALL = ["subwords.size=600", "model.encoder_layers=1", "model.decoder_layers=1", "model.d_model=16", "model.d_ff=16"]
QUICK = ["model.heads=2", "training.updates=1", "training.validation_pairs=2", "training.processes=1"]


@pytest.fixture
def cut_memory(tmp_path: Path) -> Path:
    """A translation memory that ends in the middle of its 101st unit."""
    units = [
        f'<tu><tuv xml:lang="ko"><seg>{ko}</seg></tuv><tuv xml:lang="en"><seg>{en}</seg></tuv></tu>\n'
        for ko, en in write_pairs(100, seed=1)
    ]
    path = tmp_path / "memory.tmx"
    path.write_text('<tmx version="1.4"><body>\n' + "".join(units) + '<tu><tuv xml:lang="ko"><s', encoding="utf-8")
    return path


def test_scoring_a_damaged_memory_needs_salvage_and_says_what_is_missing(
    tongsa: Tongsa, whole_translator: Path, cut_memory: Path
) -> None:
    refused = tongsa("score", whole_translator, cut_memory)
    assert refused.code == 2
    assert "line 102" in refused.err
    assert "--salvage" in refused.err
    done = tongsa("score", whole_translator, cut_memory, "--salvage")
    assert done.code == 0
    assert done.out.count("\n") == 100
    assert "left out 1 damaged files from there on" in done.err
    assert "line 102" in done.err


def test_evaluating_a_damaged_memory_takes_what_can_be_read(
    tongsa: Tongsa, whole_translator: Path, cut_memory: Path, tmp_path: Path
) -> None:
    assert "--salvage" in tongsa.refuses("evaluate", whole_translator, cut_memory)
    done = tongsa("evaluate", whole_translator, cut_memory, "--salvage", "--beam", "1", "--save", tmp_path / "out")
    assert done.code == 0, done.err
    assert (tmp_path / "out").read_text().count("\n") == 100
    assert "left out 1 damaged files from there on" in done.err


def test_training_on_a_damaged_memory_takes_what_can_be_read(tongsa: Tongsa, cut_memory: Path, tmp_path: Path) -> None:
    command = ["train", cut_memory, "--from", "ko", "--to", "en", "--recipe", "tiny", "--threads", "1"]
    command += [f"--set={setting}" for setting in (*SMALL, *QUICK)]
    assert "--salvage" in tongsa.refuses(*command, "--out", tmp_path / "none")
    done = tongsa(*command, "--out", tmp_path / "some", "--salvage")
    assert done.code == 0, done.err
    assert "left out 1 damaged files from there on" in done.err
