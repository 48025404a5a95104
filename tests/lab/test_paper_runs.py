"""Tables 2 to 4 of the paper, trained on a small corpus: every row once, also when the command is repeated."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tongsa.base.progress import Silent
from tongsa.lab.compare import running
from tongsa.lab.compare.comparison import Comparison
from tongsa.lab.compare.plan import CompareOptions
from tongsa.lab.paper.table2 import run_table_2
from tongsa.lab.paper.table3 import Table3Options, run_table_3
from tongsa.lab.paper.table4 import Table4Options, run_table_4

QUICK = {
    "subwords.size": "700",
    "training.batch_tokens": "300",
    "training.processes": "1",
    "training.validation_pairs": "4",
    "training.validate_every": "2",
    "decoding.beam": "1",
    "decoding.max_extra": "1",
}


def options(text: Path, **changes: Any) -> CompareOptions:
    values = {
        "models": (),
        "corpora": (str(text / "train"),),
        "valid": (str(text / "valid"),),
        "test": (str(text / "test"),),
        "source": "ko",
        "target": "en",
        "updates": 2,
        "settings": QUICK,
        "threads": 1,
        "device": "cpu",
    }
    return CompareOptions(**{**values, **changes})


def no_training(*_: object) -> None:
    pytest.fail("it was trained before")


def test_rows_of_table_3_are_trained_once_and_written(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = Table3Options(rows=("E",), scale=16)
    table = run_table_3(options(text), chosen, tmp_path, Silent())
    assert table is not None
    assert [line[0] for line in table.parts[0].rows] == ["base", "E"]
    assert (tmp_path / "table3.md").read_text(encoding="utf-8") == table.markdown()
    monkeypatch.setattr(running, "fit_and_publish", no_training)
    again = run_table_3(options(text), chosen, tmp_path, Silent())
    assert again is not None
    assert again.markdown() == table.markdown()


def test_table_2_scores_tokenised_bleu_beside_sacrebleus(
    text: Path, finished: tuple[Path, Comparison], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, comparison = finished
    shutil.copytree(folder, tmp_path / "out", symlinks=True)
    monkeypatch.setattr(running, "fit_and_publish", no_training)
    own = comparison.plan.options
    models = ("gru", str(text / "small.toml"))
    same = options(text, models=models, updates=own.updates, settings=own.settings)
    table = run_table_2(same, tmp_path / "out", Silent())
    assert table is not None
    assert {line[0] for line in table.parts[0].rows} == {"gru", "small"}
    assert any("tok:13a+compounds" in note for note in table.notes)
    assert (tmp_path / "out" / "table2.html").is_file()


def test_a_parser_of_table_4_is_trained_once_and_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trees = tmp_path / "some.trees"
    trees.write_text("(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))\n" * 40, encoding="utf-8")
    quick = {"subwords.size": "30", "model.d_model": "16", "training.processes": "1", "training.validation_pairs": "2"}
    chosen = Table4Options(
        trees=(str(trees),),
        valid=(str(trees),),
        test=str(trees),
        systems=("transformer",),
        settings=quick,
        updates=2,
        seeds=1,
        threads=1,
        device="cpu",
    )
    table = run_table_4(chosen, tmp_path / "out", Silent())
    assert table is not None
    assert table.parts[0].rows[0][4] == "40 of 40", "search writes well-formed trees, however little was learnt"
    monkeypatch.setattr("tongsa.training.run.train_with", no_training)
    again = run_table_4(chosen, tmp_path / "out", Silent())
    assert again is not None
    assert again.markdown() == table.markdown()
