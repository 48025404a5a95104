"""Masked language modelling and classification, by the one trainer."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tongsa
from tongsa import Classifier, MaskedLanguageModel
from tongsa.base.errors import CorpusError, DirectoryError, RecipeError, UsageError
from tongsa.formats.pictures import write_png
from tongsa.models.weights import read_tensors
from tongsa.runs.directory import Run

ANIMALS, FOODS = ("cat", "dog", "bird", "cow"), ("rice", "soup", "bread", "cake")


def sentence(draw: random.Random, words: tuple[str, ...]) -> str:
    parts = ("a", "the"), ("man", "woman", "child"), ("sees", "likes"), ("a", "no"), words
    return " ".join(draw.choice(part) for part in parts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, draw = tmp_path_factory.mktemp("labelled"), random.Random(1)
    lines = [sentence(draw, draw.choice([ANIMALS, FOODS])) for _ in range(300)]
    (folder / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [f"{label}\t{sentence(draw, words)}\n" for _ in range(40) for label, words in LABELS.items()]
    (folder / "train.tsv").write_text("".join(rows), encoding="utf-8")
    pixels = np.random.default_rng(1)
    for number in range(30):
        for side, columns in {"left": slice(0, 4), "right": slice(4, 8)}.items():
            values = pixels.integers(0, 60, (8, 8))
            values[:, columns] += 150
            write_png(folder / "pictures" / side / f"{number}.png", values)
    return folder


LABELS = {"animal": ANIMALS, "food": FOODS}
TRAINING = {"training.warmup": "5", "training.validate_every": "15", "training.updates": "30"}
MLM = {
    "corpus.max_tokens": "16",
    "subwords.kind": "word",
    "subwords.size": "40",
    "subwords.byte_fallback": "false",
    "model.d_model": "32",
    "model.d_ff": "48",
    "model.heads": "2",
    "model.layers": "1",
    "model.norm": "post",  # this and the next two: BERT's own, rather than the recipe's
    "model.positions": "learned",
    "model.max_positions": "128",
    "model.dropout": "0",
    "training.optimizer": "adam",
    "training.batch_tokens": "512",
    "training.chunk_tokens": "512",
    "training.processes": "1",
    "training.peak": "0.006",
    **TRAINING,
}
VIT = {
    "model.d_model": "16",
    "model.d_ff": "32",
    "model.heads": "2",
    "model.layers": "1",
    "model.patch": "4",
    "training.peak": "0.01",
    **TRAINING,
}


def train(corpus: Path, task: str, out: Path, settings: dict[str, str], **options: Any) -> Any:
    return tongsa.train(corpus, task=task, out=out, settings=settings, threads=1, device="cpu", **options)


@pytest.fixture(scope="module")
def masked(folder: Path) -> MaskedLanguageModel:
    return train(
        folder / "text.txt", "mlm", folder / "mlm", {**MLM, "training.updates": "150", "training.validate_every": "75"}
    )  # type: ignore[no-any-return]


def test_a_masked_language_model_learns_which_words_fit(masked: MaskedLanguageModel, folder: Path) -> None:
    ((verb, _), (last, _)) = masked.fill("a man [MASK] no [MASK]", 2)
    assert verb.piece in ("▁sees", "▁likes")
    assert 0 < last.probability < verb.probability
    card = Run(folder / "mlm").read_card()
    assert card.task == "mlm"
    assert set(card.scores) == {"log_loss", "perplexity", "accuracy"}
    assert card.scores["accuracy"].score > 30
    assert "[MASK]" in (folder / "mlm" / "report.html").read_text(encoding="utf-8")


def test_a_text_that_is_too_long_to_fill_is_refused(masked: MaskedLanguageModel) -> None:
    with pytest.raises(UsageError, match="reads at most 128"):
        masked.fill("a man " * 80 + "[MASK]")


def test_a_classifier_begins_with_the_weights_of_a_masked_language_model(
    masked: MaskedLanguageModel, folder: Path, tmp_path: Path
) -> None:
    settings = {**TRAINING, "training.peak": "0.01", "training.updates": "60"}
    found = train(folder / "train.tsv", "classify", tmp_path / "c", settings, init=folder / "mlm")
    assert isinstance(found, Classifier)
    began = read_tensors(Run(tmp_path / "c").initial_weights_file)
    assert torch.equal(began["encoder.embedding.weight"], masked.model.embedding.weight.cpu())
    assert found.labels == ["animal", "food"]
    assert [each.name for each in found.classify(["the child sees a dog", "a man likes no soup"])] == ["animal", "food"]
    assert found.card.scores["accuracy"].score > 80
    report = (tmp_path / "c" / "report.html").read_text(encoding="utf-8")
    assert "--task classify --init" in report
    assert "Confusion" in report
    with pytest.raises(DirectoryError, match="is not a masked language model: it was trained for classify"):
        MaskedLanguageModel.load(tmp_path / "c")
    with pytest.raises(DirectoryError, match="is not a classifier: it was trained for mlm"):
        Classifier.load(folder / "mlm")


def test_a_classifier_reads_whole_texts_with_adam_however_its_model_was_trained(folder: Path, tmp_path: Path) -> None:
    settings = {**MLM, "model.positions": "sinusoidal", "training.optimizer": "muon", "training.updates": "1"}
    train(folder / "text.txt", "mlm", tmp_path / "mlm", settings)
    found = train(folder / "train.tsv", "classify", tmp_path / "c", {"training.updates": "1"}, init=tmp_path / "mlm")
    assert found.card.recipe.corpus.max_tokens == 64, "sinusoids reach beyond the pieces of 16 tokens"
    assert found.card.recipe.training.optimizer == "adam", "the few steps have a peak for Adam"


def test_a_resumed_classifier_has_the_weights_of_an_uninterrupted_one(folder: Path, tmp_path: Path) -> None:
    settings = {**MLM, "model.dropout": "0.2", "training.batch_tokens": "16", "training.chunk_tokens": "16"}
    constant = {**settings, "training.schedule": "constant"}
    train(folder / "train.tsv", "classify", tmp_path / "a", constant)
    train(folder / "train.tsv", "classify", tmp_path / "b", {**constant, "training.updates": "15"})
    tongsa.resume(tmp_path / "b", settings={"training.updates": "30"})
    one, other = (read_tensors(Run(tmp_path / name).weights_file) for name in "ab")
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_pictures_are_told_apart_and_the_report_shows_where_it_looks(folder: Path, tmp_path: Path) -> None:
    found = train(folder / "pictures", "classify", tmp_path / "vit", VIT)
    assert found.card.scores["accuracy"].score == 100
    one = folder / "pictures" / "right" / "3.png"
    assert found.classify_pictures([one])[0].name == "right"
    (shares,) = found.attention(found.pixels([one]))
    assert np.array(shares).shape == (2, 2)
    assert np.sum(shares) == pytest.approx(1)
    report = (tmp_path / "vit" / "report.html").read_text(encoding="utf-8")
    assert report.count("image-rendering:pixelated") == 12, "each of 6 held-out pictures, and where it looks"
    section = found.card.recipe.model
    assert (section.height, section.width, section.channels) == (8, 8, 1)
    with pytest.raises(UsageError, match="labels pictures, not texts"):
        found.classify(["a dog"])


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("animal a dog\n", r"line 1 has no tab"),
        ("animal\ta dog\nanimal\ta cat\n", "with one label: animal"),
        ("\ta dog\nanimal\t\n", "no examples"),
        ("animal\ta dog\nfood\tsoup\n", "too few to train and validate on"),
    ],
)
def test_labelled_text_that_cannot_be_learnt_from_is_told(tmp_path: Path, rows: str, told: str) -> None:
    (tmp_path / "train.tsv").write_text(rows, encoding="utf-8")
    with pytest.raises(CorpusError, match=told):
        train(tmp_path / "train.tsv", "classify", tmp_path / "c", {})


def test_options_and_recipes_that_do_not_fit_are_told(
    folder: Path, masked: MaskedLanguageModel, tmp_path: Path
) -> None:
    tsv, out = folder / "train.tsv", tmp_path / "c"
    (tmp_path / "valid.tsv").write_text("plant\ta tree\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="labels that training has not: plant"):
        train(tsv, "classify", out, {}, valid=tmp_path / "valid.tsv")
    with pytest.raises(UsageError, match="keeps the model"):
        train(tsv, "classify", out, {"model.layers": "2"}, init=folder / "mlm")
    with pytest.raises(RecipeError, match="cannot train a classifier"):
        train(tsv, "classify", out, {}, recipe="lm")
    with pytest.raises(RecipeError, match="cannot train a masked language model"):
        train(folder / "text.txt", "mlm", out, {"corpus.max_tokens": "400", "training.select": "bleu"})
    with pytest.raises(RecipeError, match="cannot read these pictures"):
        train(folder / "pictures", "classify", out, {"model.patch": "3"})
