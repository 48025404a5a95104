"""COMET, with a module in place of unbabel-comet that records what it is asked; nothing is downloaded."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tongsa.base.errors import MissingExtraError, UsageError
from tongsa.evaluation.comet import Comet
from tongsa.evaluation.significance import paired_bootstrap


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []

    def predict(rows: list[dict[str, str]], **options: Any) -> Any:
        found.append(rows)
        return SimpleNamespace(scores=[float(row["mt"] == row["ref"]) for row in rows])

    def download_model(name: str, local_files_only: bool = False) -> str:
        assert local_files_only, "nothing is downloaded unasked"
        raise FileNotFoundError(name)

    def load_from_checkpoint(path: str) -> Any:
        found.append(path)
        return SimpleNamespace(predict=predict)

    module = ModuleType("comet")
    module.download_model, module.load_from_checkpoint = download_model, load_from_checkpoint  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "comet", module)
    monkeypatch.delenv("TONGSA_COMET", raising=False)
    return found


def test_the_model_that_is_named_scores_source_translation_and_reference(
    asked: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "model.ckpt").write_bytes(b"")
    monkeypatch.setenv("TONGSA_COMET", str(tmp_path / "model.ckpt"))
    found = Comet().corpus(["a", "b"], ["a", "c"], language="en", sources=["x", "y"])
    assert found.score == 50.0
    assert found.signature.startswith("comet|model:model.ckpt|")
    expected = [{"src": "x", "mt": "a", "ref": "a"}, {"src": "y", "mt": "b", "ref": "c"}]
    assert asked == [str(tmp_path / "model.ckpt"), expected], "loaded once, all sentences together"


def test_a_model_that_is_not_here_is_not_downloaded(asked: list[Any]) -> None:
    with pytest.raises(UsageError, match="is not on this machine") as told:
        Comet().corpus(["a"], ["a"], language="en", sources=["x"])
    assert any("TONGSA_COMET" in line for line in told.value.explanation)
    assert asked == []


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "comet", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tongsa\[comet\]'"):
        Comet().corpus(["a"], ["a"], language="en", sources=["x"])


def test_it_needs_the_sources(asked: list[Any]) -> None:
    with pytest.raises(UsageError, match="needs the source"):
        Comet().corpus(["a"], ["a"], language="en")


def test_significance_is_tested_with_comet_as_with_any_metric(
    asked: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "model.ckpt").write_bytes(b"")
    monkeypatch.setenv("TONGSA_COMET", str(tmp_path / "model.ckpt"))
    texts = [f"sentence {n}" for n in range(30)]
    systems = {"first": texts, "second": ["wrong"] * 30}
    found = paired_bootstrap(systems, texts, "en", baseline="first", metrics=["comet"], sources=texts, samples=50)
    assert (found["first"]["comet"].score, found["second"]["comet"].score) == (100.0, 0.0)
    assert found["second"]["comet"].p is not None
