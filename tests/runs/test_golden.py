"""A run directory of format 1, written by the version before format 2: it loads, translates and resumes for ever.

It was trained on 160 pairs of the built-in grammar (seed 1, 80 updates); translator-1.json holds what its native engine
answered then.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import tongsa
from tongsa.runs.card import FORMAT, Provenance, Score
from tongsa.runs.directory import Run
from tongsa.runs.job import Job, TrainOptions
from tongsa.translation.translator import Translator

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "translator-1"


@pytest.fixture
def golden(tmp_path: Path) -> Run:
    """A copy: loading may compile an engine beside it."""
    shutil.copytree(GOLDEN, tmp_path / "run")
    return Run(tmp_path / "run")


def test_a_translator_of_format_1_translates_as_it_did(golden: Run) -> None:
    expected = json.loads(GOLDEN.with_suffix(".json").read_text(encoding="utf-8"))
    translator = Translator.load(golden.path, engine="native", device="cpu")
    found = translator.translate([each["source"] for each in expected])
    assert [each.text for each in found] == [each["text"] for each in expected]
    for now, then in zip(found, expected, strict=True):
        assert now.log_probability == pytest.approx(then["log_probability"], rel=1e-5)
        assert now.score == pytest.approx(then["score"], rel=1e-5)


def test_every_field_of_a_card_of_format_1_is_read(golden: Run) -> None:
    card = golden.read_card()
    values = json.loads(golden.card_file.read_text(encoding="utf-8"))
    assert values["format"] == 1
    assert (card.task, card.source, card.target) == ("translation", "ko", "en")
    assert card.training == Provenance(
        corpora=("train",),
        examples=157,
        updates=80,
        epochs=values["training"]["epochs"],
        target_tokens=values["training"]["target_tokens"],
        minutes=values["training"]["minutes"],
        seed=1,
        weights="the last checkpoint",
    )
    assert card.training.epochs > 0
    assert card.training.target_tokens > 0
    points = values["scores"].pop("confidence")
    assert card.confidence == tuple((x, y) for x, y in points)
    assert len(card.confidence) > 0
    assert card.scores == {name: Score(each["score"], each["signature"]) for name, each in values["scores"].items()}
    assert set(card.scores) == {"bleu", "chrf", "ter"}
    written = card.recipe.to_values()
    for section, table in values["recipe"].items():
        assert {key: written[section][key] for key in table} == table


def test_a_card_of_format_1_written_again_says_the_same(golden: Run) -> None:
    card = golden.read_card()
    golden.card_file.write_text(card.to_json(), encoding="utf-8")
    assert golden.read_card() == card


def test_the_job_of_format_1_is_read(golden: Run) -> None:
    recipe, job = golden.read_job()
    options = TrainOptions(corpora=("train",), source="ko", target="en", seed=1)
    assert job == Job(options=options, device="cpu", threads=1)
    assert recipe == golden.read_card().recipe
    golden.write_job(recipe, job)
    assert golden.read_job() == (recipe, job)


def test_a_training_of_format_1_goes_on_from_its_checkpoint(golden: Run) -> None:
    before = (golden.checkpoints / "00000080" / "weights.safetensors").read_bytes()
    translator = tongsa.resume(golden.path, settings={"training.updates": "82"})
    assert isinstance(translator, Translator)
    assert [event["update"] for event in golden.events("resume")] == [80]
    assert [event["update"] for event in golden.events("update")][-3:] == [80, 81, 82]
    assert golden.read_card().training.updates == 82
    assert golden.weights_file.read_bytes() != before
    assert json.loads(golden.card_file.read_text(encoding="utf-8"))["format"] == FORMAT
