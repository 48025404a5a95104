"""A translator directory with random weights, and runs around it."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tongsa.config import Recipe, SubwordsSection, TransformerSection
from tongsa.models import build
from tongsa.models.weights import named_weights
from tongsa.runs.card import Card, Provenance, Score
from tongsa.runs.directory import Run
from tongsa.text.subwords import Subwords, learn
from tongsa.translation.translator import Translator

TEXTS = [
    "the cat sees the dog",
    "고양이가 개를 봐요",
    "a bird sings at noon",
    "새가 정오에 노래해요",
    "we read two books",
]
SIGNATURE = "nrefs:1|case:mixed"


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translator and nothing else: no log, no examples."""
    directory = tmp_path_factory.mktemp("report") / "ko-en"
    vocabulary = learn(TEXTS * 20, SubwordsSection(size=320), threads=1)
    config = TransformerSection(d_model=16, d_ff=32, heads=2, encoder_layers=2, decoder_layers=1, dropout=0.0)
    torch.manual_seed(0)
    model = build(config, len(vocabulary), None)
    directory.mkdir()
    Subwords(vocabulary, vocabulary).save(directory)
    scores = {"bleu": Score(12.34, SIGNATURE)}
    training = Provenance(examples=29000, updates=400, epochs=2, corpora=("data/my corpus",), seed=7, minutes=3.5)
    card = Card(source="ko", target="en", recipe=Recipe(model=config), training=training, scores=scores)
    Run(directory).write_translator(card, named_weights(model))
    return directory


@pytest.fixture(scope="session")
def translator(bare: Path) -> Translator:
    return Translator.load(bare, engine="native", device="cpu")


@pytest.fixture
def run_with(bare: Path, tmp_path: Path) -> Callable[..., Path]:
    """A copy of the directory with so many updates, validations and these examples."""

    def make(
        updates: int = 0, validate_every: int = 0, examples: list[tuple[str, str, str]] | None = None, extra: str = ""
    ) -> Path:
        directory = tmp_path / "ko-en"
        shutil.copytree(bare, directory)
        if updates:
            (directory / "log.jsonl").write_text(log(updates, validate_every) + extra, encoding="utf-8")
        if examples is not None:
            lines = [
                json.dumps({"source": s, "reference": r, "translation": t, "score": -0.1 * i})
                for i, (s, r, t) in enumerate(examples)
            ]
            (directory / "validation.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return directory

    return make


def log(updates: int, validate_every: int) -> str:
    events: list[dict[str, object]] = [{"event": "start", "update": 0, "seconds": 0.0, "processes": 2, "threads": 1}]
    for n in range(1, updates + 1):
        common = {"update": n, "seconds": 0.5 * n}
        loss = 2 + 6 * math.exp(-n / 100)
        rest = {"target_tokens": 4000 * n, "rate": 0.001, "gradient_norm": 0.7, "skipped": False}
        events.append({"event": "update", "log_loss": loss, **common, **rest})
        if validate_every and n % validate_every == 0:
            events.append({"event": "validation", "log_loss": loss + 0.1, "perplexity": 9.0, "bleu": n / 100, **common})
    return "".join(json.dumps(event) + "\n" for event in events)
