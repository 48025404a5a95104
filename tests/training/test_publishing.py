"""Of the last checkpoint and the average of several, the better one is published: its weights, scores and name."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from tongsa.base.checksums import CHECKSUMS, Checksums
from tongsa.base.progress import Silent
from tongsa.demo import grammar
from tongsa.evaluation.metrics import score
from tongsa.models.weights import read_tensors
from tongsa.runs.directory import Run
from tongsa.runs.log import read_log
from tongsa.training.checkpoint import checkpoints
from tongsa.translation.translator import Translator

Train = Callable[..., Translator | None]

SENTENCE = "the old teacher reads a long letter to the children"

BEST = 100 * math.exp(1 - 11 / 10)
"""BLEU of that sentence where the reference has one word more: all its n-grams are right, and it is too short."""


@pytest.fixture(scope="module")
def learnt(train_here: Train, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training with two checkpoints that has learnt to answer everything with one sentence."""
    folder = tmp_path_factory.mktemp("publishing")
    sources = [source for source, _ in grammar.write_pairs(120, seed=1)]
    corpus = folder / "corpus.tsv"
    corpus.write_text("".join(f"{source}\t{SENTENCE}\n" for source in sources), encoding="utf-8")
    changes = {
        "subwords.size": "600",
        "subwords.sampling": "0.0",
        "model.dropout": "0.0",
        "model.norm": "post",  # of so small a model: with norm first it forgets a word in one of five
        "training.updates": "60",
        "training.validate_every": "30",
    }
    valid = folder / "valid.tsv"  # references have one word more, so that BLEU tells them from translations
    valid.write_text("".join(f"{source}\t{SENTENCE} again\n" for source in sources[:5]), encoding="utf-8")
    assert train_here(folder / "run", changes, corpus=corpus, valid=valid) is not None
    assert Run(folder / "run").read_card().scores["bleu"].score == pytest.approx(BEST, abs=0.01)
    return folder / "run"


def write_checksums(folder: Path) -> None:
    """A checkpoint that was changed on purpose is not a damaged one."""
    paths = [path for path in folder.iterdir() if path.name != CHECKSUMS]
    Checksums.of(folder, paths).write(folder / CHECKSUMS)


def published_again(learnt: Path, out: Path, train_here: Train, weights: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Put these weights in the place of its checkpoints and have the training finish again."""
    shutil.copytree(learnt, out)
    for checkpoint, each in zip(checkpoints(out / "checkpoints"), weights, strict=True):
        save_file(each, checkpoint.folder / "weights.safetensors")
        write_checksums(checkpoint.folder)
    assert train_here(out, resume=True) is not None
    return read_tensors(out / "weights.safetensors")


@pytest.fixture
def good(learnt: Path) -> dict[str, Tensor]:
    return checkpoints(learnt / "checkpoints")[-1].weights()


def told(out: Path) -> str:
    """What card and log say was published: the same."""
    end = [event for event in read_log(out / "log.jsonl") if event["event"] == "finish"][-1]
    card = Run(out).read_card()
    assert end["weights"] == card.training.weights
    assert end["scores"]["bleu"]["score"] == card.scores["bleu"].score == pytest.approx(BEST, abs=0.01)
    return str(end["weights"])


def test_validation_on_the_way_scores_what_the_model_writes(learnt: Path) -> None:
    validations = [event for event in read_log(learnt / "log.jsonl") if event["event"] == "validation"]
    assert [event["update"] for event in validations] == [30, 60]
    assert validations[-1]["bleu"] == pytest.approx(BEST, abs=0.01)


class Impatient(Silent):
    """Gives up when it is told of this update's validation."""

    def __init__(self, update: int) -> None:
        self.update = update

    def say(self, text: str) -> None:
        if text.startswith(f"update {self.update} "):
            raise KeyboardInterrupt


def test_while_it_trains_the_directory_holds_the_best_translator_so_far(train_here: Train, tmp_path: Path) -> None:
    """With a rate of almost nothing all scores are the same, and the first of them stays the best."""
    changes = {"training.validate_every": "2", "training.peak": "1e-12", "model.dropout": "0.0"}
    with pytest.raises(KeyboardInterrupt):
        train_here(tmp_path / "run", changes, show=Impatient(8))
    card = Run(tmp_path / "run").read_card()
    assert card.training.updates == 2
    assert card.scores["bleu"].signature == "greedy"
    first = checkpoints(tmp_path / "run" / "checkpoints")[0]
    assert first.update > 2, "the checkpoint of the best is gone, its weights are not"
    assert len(Translator.load(tmp_path / "run", device="cpu").translate(["저는 학생입니다."])) == 1


def test_scores_examples_and_confidence_are_those_of_the_published_translator(learnt: Path) -> None:
    lines = (learnt / "validation.jsonl").read_text(encoding="utf-8").splitlines()
    examples = [json.loads(line) for line in lines]
    references = [example["reference"] for example in examples]
    found = Translator.load(learnt, device="cpu").translate([example["source"] for example in examples])
    texts = [translation.text for translation in found]
    assert texts == [example["translation"] for example in examples]
    card = Run(learnt).read_card()
    for name, expected in score(texts, references, "en").items():
        assert card.scores[name] == expected
    expected_confidence = [example["confidence"] for example in examples]
    assert [translation.confidence for translation in found] == pytest.approx(expected_confidence, abs=1e-3)
    assert card.calibration
    assert card.calibration.average > 0
    assert card.one_sentence
    assert "frequencies.bin" in card.checksums


def test_the_last_checkpoint_is_published_where_the_average_is_worse(
    learnt: Path, good: dict[str, Tensor], train_here: Train, tmp_path: Path
) -> None:
    spoiling = {name: -weight for name, weight in good.items()}
    found = published_again(learnt, tmp_path / "run", train_here, [spoiling, good])
    assert told(tmp_path / "run") == "the last checkpoint"
    assert found.keys() == good.keys()
    assert all(torch.equal(found[name], good[name]) for name in good)


def test_the_average_is_published_where_the_last_checkpoint_is_worse(
    learnt: Path, good: dict[str, Tensor], train_here: Train, tmp_path: Path
) -> None:
    bad = {name: -weight for name, weight in good.items()}
    balancing = {name: 3 * weight for name, weight in good.items()}
    found = published_again(learnt, tmp_path / "run", train_here, [balancing, bad])
    assert told(tmp_path / "run") == "the average of 2 checkpoints"
    for name in good:
        torch.testing.assert_close(found[name], good[name])


def test_the_best_checkpoint_is_published_where_the_last_is_worse_and_none_are_averaged(
    learnt: Path, good: dict[str, Tensor], train_here: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """training.average = 1 and average_of = "best": the one that is chosen may be an earlier one."""
    bad = {name: -weight for name, weight in good.items()}
    monkeypatch.setattr("tongsa.training.publish.to_average", lambda found, *_: found[:1])
    found = published_again(learnt, tmp_path / "run", train_here, [good, bad])
    assert told(tmp_path / "run") == "the best checkpoint"
    assert all(torch.equal(found[name], good[name]) for name in good)


def test_the_card_tells_what_the_training_took(learnt: Path, train_here: Train, tmp_path: Path) -> None:
    out = tmp_path / "run"
    shutil.copytree(learnt, out)
    path = checkpoints(out / "checkpoints")[-1].folder / "progress.json"
    values = json.loads(path.read_text())
    path.write_text(json.dumps({**values, "seconds": 6000.0, "target_tokens": 12345, "position": [7, 2]}))
    write_checksums(path.parent)
    assert train_here(out, resume=True) is not None
    found = Run(out).read_card().training
    assert (found.updates, found.minutes, found.target_tokens, found.epochs) == (60, 100.0, 12345, 7)
