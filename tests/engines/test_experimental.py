"""Transformers that only the native engine computes: others refuse them, and `auto` says which it takes."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from small_translators import SMALL, random_translator
from tongsa import Translator
from tongsa.base.errors import UsageError
from tongsa.cli.export import export
from tongsa.config import Recipe

KEYS: list[tuple[dict[str, Any], str]] = [
    ({"attention": "additive"}, "its attention is additive"),
    ({"attention": "dot-product"}, "its attention is dot-product"),
    ({"neighbourhood": 3}, "its self-attention sees 3 positions"),
    ({"projections": "query-key"}, "its projections are query-key"),
    ({"feed_forward": "none"}, "it has no feed-forward networks"),
    ({"feed_forward": "experts"}, "its feed-forward networks are mixtures of experts"),
    ({"residual": False}, "it has no residual sums"),
    ({"norm": "none"}, "it has no LayerNorms"),
    ({"scale_embeddings": False}, "its embeddings are not scaled"),
    ({"positions": "none"}, "it has no positions"),
    ({"join_positions": "concatenate"}, "its positions are concatenated"),
    ({"causal": False}, "its decoder is not masked"),
]


@pytest.mark.parametrize(("keys", "told"), KEYS)
def test_each_such_key_is_told(keys: dict[str, Any], told: str) -> None:
    assert Recipe.from_values({"model": keys}, "a test").model.experimental() == [told]  # type: ignore[attr-defined]
    assert not SMALL.experimental()


def test_auto_falls_back_to_the_native_engine_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    directory = random_translator(tmp_path, config=replace(SMALL, attention="additive", projections="query-key"))
    with caplog.at_level(logging.WARNING):
        translator = Translator.load(directory)
    assert translator.engine.name == "native"
    assert "its attention is additive; its projections are query-key" in caplog.text
    assert translator.translate(["고양이가 물을 마신다."])


def test_ctranslate2_and_marian_refuse_them(tmp_path: Path) -> None:
    directory = random_translator(tmp_path / "ours", config=replace(SMALL, residual=False, norm="pre"))
    with pytest.raises(UsageError) as refused:
        Translator.load(directory, engine="ctranslate2")
    assert "it has no residual sums" in refused.value.printable()
    for to_format in ("ctranslate2", "marian"):
        with pytest.raises(UsageError) as refused:
            export(directory, tmp_path / "theirs", to_format)
        assert "it has no residual sums" in refused.value.printable()
        assert not (tmp_path / "theirs").exists()
