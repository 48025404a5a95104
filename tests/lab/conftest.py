"""A small corpus of the built-in grammar, and comparisons of two small models on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tongsa.base.progress import Silent
from tongsa.demo import grammar
from tongsa.lab.compare.comparison import Comparison
from tongsa.lab.compare.plan import CompareOptions
from tongsa.lab.compare.running import compare

UPDATES = 12
SMALL = 'preset = "tiny"\n[model]\nencoder_layers = 1\ndecoder_layers = 1\nd_ff = 16\nheads = 2\n'

SETTINGS = {
    "subwords.size": "700",
    "model.d_model": "16",
    "training.batch_tokens": "300",
    "training.chunk_tokens": "150",
    "training.processes": "1",
    "training.warmup": "4",
    "training.validate_every": "4",
    "training.validation_pairs": "8",
    "training.average": "2",
    "decoding.beam": "2",
    "decoding.max_extra": "3",
}

Compare = Callable[..., Comparison | None]


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train, valid and test in Korean and English, and a recipe for a small Transformer."""
    folder = tmp_path_factory.mktemp("text")
    for name, pairs in zip(("train", "valid", "test"), grammar.corpus(300, 30, 40, seed=1), strict=True):
        for side, language in enumerate(("ko", "en")):
            (folder / f"{name}.{language}").write_text("".join(pair[side] + "\n" for pair in pairs), encoding="utf-8")
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def compare_here(text: Path) -> Compare:
    """Compare in this process; with `both`, return the comparisons of both budgets."""

    def run(out: Path, models: str | None = None, *, both: bool = False, **options: Any) -> Any:
        arguments: dict[str, Any] = {
            "source": "ko",
            "target": "en",
            "corpora": (str(text / "train"),),
            "valid": (str(text / "valid"),),
            "test": (str(text / "test"),),
            "updates": UPDATES,
            "threads": 1,
            "device": "cpu",
            "settings": SETTINGS,
        }
        names = tuple((models or f"gru,{text / 'small.toml'}").split(","))
        found = compare(CompareOptions(models=names, **{**arguments, **options}), out, Silent())
        return found if both else found and found[0]

    return run


@pytest.fixture(scope="session")
def finished(compare_here: Compare, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Comparison]:
    """A comparison that nothing disturbed; it is not to be changed."""
    out = tmp_path_factory.mktemp("comparison") / "out"
    comparison = compare_here(out)
    assert comparison is not None
    return out, comparison
