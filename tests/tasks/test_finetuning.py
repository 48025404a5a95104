"""Fine-tuning keeps what it starts from and mixes old text in; students learn from their teachers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import tongsa
from tongsa.base.errors import RecipeError, UsageError
from tongsa.config import TransformerSection
from tongsa.demo.grammar import write_pairs
from tongsa.formats.pairs import Reading, open_corpus
from tongsa.models.weights import read_tensors
from tongsa.runs.job import TrainOptions
from tongsa.tasks.finetuning import Mixture
from tongsa.tasks.inheriting import evenly, inherited
from tongsa.training.distill import distil

SMALL = {
    "subwords.size": "800",
    "model.d_model": "32",
    "model.d_ff": "64",
    "model.heads": "2",
    "model.encoder_layers": "1",
    "model.decoder_layers": "1",
    "training.updates": "6",
    "training.batch_tokens": "600",
    "training.validation_pairs": "10",
    "training.processes": "1",
    "decoding.max_extra": "3",
}


def write_corpus(prefix: Path, count: int, seed: int) -> Path:
    pairs = list(write_pairs(count, seed=seed))
    for side, language in enumerate(("ko", "en")):
        text = "".join(pair[side] + "\n" for pair in pairs)
        prefix.with_suffix(f".{language}").write_text(text, encoding="utf-8")
    return prefix


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Old and new text, and a translator trained on the old."""
    folder = tmp_path_factory.mktemp("world")
    write_corpus(folder / "old", 300, seed=1)
    write_corpus(folder / "new", 100, seed=2)
    tongsa.train(folder / "old", source="ko", target="en", out=folder / "first", recipe="tiny", settings=SMALL)
    return folder


def test_fine_tuning_begins_with_the_weights_and_subwords_of_its_translator(world: Path, tmp_path: Path) -> None:
    settings = {"training.updates": "1", "training.peak": "1e-12", "training.validation_pairs": "20"}
    tongsa.train(world / "new", source="ko", target="en", out=tmp_path / "t", init=world / "first", settings=settings)
    assert (tmp_path / "t" / "subwords.model").read_bytes() == (world / "first" / "subwords.model").read_bytes()
    before, after = (read_tensors(folder / "weights.safetensors") for folder in (world / "first", tmp_path / "t"))
    assert all((before[name] - after[name]).abs().max() < 1e-9 for name in before)


def test_old_text_is_mixed_in_and_both_domains_are_scored(world: Path, tmp_path: Path) -> None:
    settings = {"training.updates": "2", "training.validation_pairs": "20"}
    tongsa.train(
        world / "new",
        source="ko",
        target="en",
        out=tmp_path / "t",
        init=world / "first",
        mix=world / "old",
        settings=settings,
    )
    domains = json.loads((tmp_path / "t" / "domains.json").read_text())
    assert set(domains) == {"new", "old"}
    assert set(domains["old"]) == {"before", "after"}


def test_a_mixture_takes_the_ratio_and_never_what_is_scored(world: Path) -> None:
    reading = Reading(source="ko", target="en")
    new, old = open_corpus([world / "new"], reading), open_corpus([world / "old"], reading)
    mixture = Mixture.of(new, old, ratio=1.0, seed=3)
    mixed = list(mixture)
    assert mixed == list(mixture), "each pass draws the same pairs"
    assert mixed[:100] == list(new)
    assert 60 <= len(mixed) - 100 <= 140
    assert not any(mixture.aside.holds_out(pair) for pair in mixed[100:])


def test_a_mixture_takes_no_pair_twice_where_there_are_too_few_old_ones(world: Path) -> None:
    reading = Reading(source="ko", target="en")
    new, old = open_corpus([world / "new"], reading), open_corpus([world / "old"], reading)
    mixture = Mixture.of(new, old, ratio=30.0, seed=3)
    assert mixture.share == 1.0
    assert list(mixture)[100:] == [pair for pair in old if not mixture.aside.holds_out(pair)]


def test_fine_tuning_refuses_another_direction_or_model(world: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ko to en"):
        tongsa.train(world / "new", source="en", target="ko", out=tmp_path / "t", init=world / "first")
    changed = {"model.encoder_layers": "3"}
    with pytest.raises(UsageError, match="keeps the model"):
        tongsa.train(
            world / "new", source="ko", target="en", out=tmp_path / "t", init=world / "first", settings=changed
        )


def options(world: Path, settings: dict[str, str], recipe: str = "auto", seed: int = 1) -> TrainOptions:
    return TrainOptions(corpora=(str(world / "new"),), settings=settings, recipe=recipe, seed=seed)


def test_a_student_learns_from_the_teachers_own_words(world: Path, tmp_path: Path) -> None:
    student = distil(world / "first", options(world, SMALL, recipe="tiny"), tmp_path / "s", beam=2)
    assert student is not None
    sources = (world / "new.ko").read_text(encoding="utf-8").splitlines()
    distilled = (tmp_path / "s" / "distilled" / "train.en").read_text(encoding="utf-8").split("\n")[:-1]
    assert len(distilled) == len(sources)
    teacher = tongsa.Translator.load(world / "first")
    found = teacher.translate(sources[:5], replace(teacher.search, beam=2))
    assert [translation.text for translation in found] == distilled[:5]
    references = (tmp_path / "s" / "distilled" / "references.en").read_text(encoding="utf-8")
    assert references == (world / "new.en").read_text(encoding="utf-8")
    assert student.card.training.examples > len(sources), "it has learnt from both"


def test_a_student_begins_with_what_fits_of_the_teachers_weights(world: Path, tmp_path: Path) -> None:
    still = {"training.updates": "1", "training.peak": "1e-12", "model.encoder_layers": "2"}
    distil(world / "first", options(world, still), tmp_path / "s", beam=1)
    teacher, student = (read_tensors(folder / "weights.safetensors") for folder in (world / "first", tmp_path / "s"))
    new = set(student) - set(teacher)
    assert new
    assert all(name.startswith("encoder.1.") for name in new)
    assert all((teacher[name] - student[name]).abs().max() < 1e-9 for name in teacher)


def test_a_student_from_scratch_has_only_the_teachers_subwords(world: Path, tmp_path: Path) -> None:
    distil(world / "first", options(world, {"training.updates": "1"}, seed=2), tmp_path / "s", inherit=False)
    teacher, student = (read_tensors(folder / "weights.safetensors") for folder in (world / "first", tmp_path / "s"))
    assert (tmp_path / "s" / "subwords.model").read_bytes() == (world / "first" / "subwords.model").read_bytes()
    assert (teacher["source_embedding.weight"] - student["source_embedding.weight"]).abs().max() > 0.01


def test_layers_are_inherited_evenly_spaced() -> None:
    assert [evenly(*counts) for counts in ((1, 6), (2, 6), (3, 5), (4, 4), (2, 1))] == [
        [0],
        [0, 5],
        [0, 2, 4],
        [0, 1, 2, 3],
        [0, 0],
    ]


def test_the_decoders_layers_come_from_their_places_in_the_teacher() -> None:
    model, teacher_model = TransformerSection(decoder_layers=2), TransformerSection(decoder_layers=6)
    teacher = {f"decoder.{i}.bias": torch.full((3,), float(i)) for i in range(6)} | {"other": torch.ones(2)}
    student = {"decoder.0.bias": torch.zeros(3), "decoder.1.bias": torch.zeros(3), "other": torch.zeros(5)}
    found = inherited(student, model, teacher, teacher_model)
    assert {name: value[0].item() for name, value in found.items()} == {"decoder.0.bias": 0.0, "decoder.1.bias": 5.0}


def test_learned_positions_must_reach_as_far_as_the_corpus(world: Path, tmp_path: Path) -> None:
    settings = {"model.positions": "learned", "model.max_positions": "100", "corpus.max_tokens": "100"}
    with pytest.raises(RecipeError, match="max_positions 100 must be above"):
        tongsa.train(world / "new", source="ko", target="en", out=tmp_path / "t", recipe="tiny", settings=settings)
