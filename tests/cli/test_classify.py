from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.cli.conftest import Tongsa

from small_translators import small_subwords
from tongsa.config import Recipe
from tongsa.formats.pictures import write_png
from tongsa.models.weights import named_weights
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.tasks.classifier import build_classifier

LAYERS = {"d_model": 16, "d_ff": 16, "heads": 2, "layers": 1}


def save(directory: Path, model: dict[str, object], seed: int = 1) -> Path:
    """A classifier of three labels with random weights."""
    recipe = Recipe.from_values({"model": {**LAYERS, **model}, "corpus": {"max_tokens": 20}}, "a test")
    vocabulary = small_subwords().target if model["architecture"] == "bert" else None
    torch.manual_seed(seed)
    found = build_classifier(recipe, 3, vocabulary)
    torch.nn.init.normal_(found.head.weight)
    directory.mkdir(parents=True)
    if vocabulary:
        small_subwords().save(directory)
    Run(directory).labels_file.write_text(json.dumps(["a", "b", "c"]), encoding="utf-8")
    Run(directory).write_translator(Card(task="classify", recipe=recipe), named_weights(found))
    return directory


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classifiers")
    save(folder / "text", {"architecture": "bert", "max_positions": 20})
    save(folder / "other", {"architecture": "bert", "max_positions": 20}, seed=2)
    save(folder / "vit", {"architecture": "vit", "patch": 2, "height": 4, "width": 4, "channels": 1})
    for label in "ab":
        write_png(folder / "pictures" / label / "1.png", np.full((4, 4), 100 * ord(label) % 255))
    return folder


def test_classify_prints_a_label_for_each_line(tongsa: Tongsa, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a small bird\n\n" + "very " * 100 + "\n"))
    done = tongsa("classify", folder / "text", "--scores")
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert len(rows) == 3
    assert all(row[0] in "abc" and 0 < float(row[1]) <= 1 for row in rows)
    assert "1 lines were cut to 20 tokens" in done.err


def test_two_classifiers_are_compared_on_the_same_lines(tongsa: Tongsa, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_text("a\tone bird\nb\ttwo birds\n\td\nz\tall\n", encoding="utf-8")
    done = tongsa("classify", folder / "text", "--test", tmp_path / "test.tsv", "--against", folder / "other")
    assert done.code == 0, done.err
    assert "of 3)" in done.out.splitlines()[0]
    assert "McNemar" in done.out
    assert "left out 1 with an empty label or text" in done.err


def test_pictures_are_labelled_tested_and_their_attention_drawn(tongsa: Tongsa, folder: Path, tmp_path: Path) -> None:
    picture, page = folder / "pictures" / "a" / "1.png", tmp_path / "attention.html"
    assert tongsa("classify", folder / "vit", picture, "--attention", page).out.strip() in "abc"
    assert page.read_text(encoding="utf-8").count("data:image/png") == 2, "the picture, and where it looks"
    assert "of 2)" in tongsa("classify", folder / "vit", "--test", folder / "pictures").out


def test_classify_refuses_what_it_cannot_do(tongsa: Tongsa, folder: Path, whole_translator: Path) -> None:
    assert "is not a classifier" in tongsa.refuses("classify", whole_translator)
    assert "--against needs --test" in tongsa.refuses("classify", folder / "text", "--against", folder / "other")
    picture = folder / "pictures" / "a" / "1.png"
    assert "labels texts, not pictures" in tongsa.refuses("classify", folder / "text", picture)
    assert "none are given" in tongsa.refuses("classify", folder / "vit", "--attention", "x.html")


@pytest.mark.parametrize("name", ["text", "vit"])
def test_doctor_knows_classifiers(tongsa: Tongsa, folder: Path, name: str) -> None:
    done = tongsa("doctor", folder / name)
    assert done.code == 0, done
    assert "3 labels" in done.out
