"""`tongsa.train` in this process: what is logged, what may change on the way, when it ends."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import tongsa
from tongsa.base.errors import DirectoryError, TrainingError, UsageError
from tongsa.models.weights import read_tensors
from tongsa.runs.directory import Run
from tongsa.runs.log import read_log
from tongsa.tasks.translation import TranslationObjective
from tongsa.text.subwords import Subwords, VocabularySizeError
from tongsa.training.checkpoint import checkpoints, latest
from tongsa.training.loop import Callbacks, End, Trainer
from tongsa.training.workers import ProcessGroup
from tongsa.translation.translator import Translator

Train = Callable[..., Translator | None]


def events(out: Path, kind: str) -> list[dict[str, Any]]:
    return [event for event in read_log(out / "log.jsonl") if event["event"] == kind]


@pytest.fixture(scope="module")
def finished(train_here: Train, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "ko-en"
    assert train_here(out) is not None
    return out


@pytest.fixture
def trainer(train_here: Train, finished: Path, tmp_path: Path) -> Callable[..., Trainer]:
    """A trainer on the data of a training, with nothing trained yet."""

    def make(**changes: str) -> Trainer:
        recipe, job = Run(finished).read_job()
        fresh = tmp_path / "fresh"
        fresh.mkdir(exist_ok=True)
        shutil.copytree(finished / "data", fresh / "data", dirs_exist_ok=True)
        shutil.copyfile(finished / "subwords.model", fresh / "subwords.model")
        settings = {f"training.{key}": value for key, value in changes.items()}
        return Trainer(Run(fresh), recipe.with_settings(settings), job, ProcessGroup())

    return make


def test_the_log_tells_every_update(finished: Path) -> None:
    updates = events(finished, "update")
    assert [e["update"] for e in updates] == list(range(1, 25))
    seconds = [e["seconds"] for e in updates]
    assert seconds == sorted(seconds)
    tokens = [e["target_tokens"] for e in updates]
    assert tokens == sorted(set(tokens))
    assert tokens[-1] == sum(e["tokens"] for e in updates)
    assert all(e["loss"] > 0 and not e["skipped"] for e in updates)


def test_the_log_has_validations_checkpoints_and_an_end(finished: Path) -> None:
    assert [e["update"] for e in events(finished, "validation")] == [8, 16, 24]
    for event in events(finished, "validation"):
        assert event["perplexity"] == pytest.approx(math.exp(event["log_loss"]))
        assert "bleu" in event
    assert [e["update"] for e in events(finished, "checkpoint")] == [8, 16, 24]
    (start,) = events(finished, "start")
    assert start["recipe"]["model"]["d_model"] == 16
    assert start["parameters"] > 0
    assert set(events(finished, "finish")[0]["scores"]) == {"bleu", "chrf", "ter"}


def test_the_log_begins_with_what_is_trained_on_what(finished: Path) -> None:
    (start,) = events(finished, "start")
    weights = read_tensors(finished / "weights.safetensors")
    assert start["parameters"] == sum(weight.numel() for weight in weights.values())
    assert start["examples"] == Run(finished).read_card().training.examples
    assert 280 < start["examples"] < 300, "a few of 300 are held out"
    assert (start["processes"], start["threads"], start["update"]) == (1, 1, 0)


def test_a_training_is_validated_20_times_where_the_recipe_does_not_say(train_here: Train, tmp_path: Path) -> None:
    train_here(tmp_path / "t", {"training.updates": "40", "training.validate_every": "0", "decoding.beam": "1"})
    validations = [e["update"] for e in events(tmp_path / "t", "validation")]
    assert validations == list(range(2, 41, 2))


def test_checkpoints_are_written_as_often_as_the_recipe_says_and_at_the_end(train_here: Train, tmp_path: Path) -> None:
    changes = {"training.updates": "7", "training.validate_every": "100", "training.checkpoint_every": "3"}
    train_here(tmp_path / "t", {**changes, "training.average": "5"})
    assert [e["update"] for e in events(tmp_path / "t", "checkpoint")] == [3, 6, 7]
    assert [each.update for each in checkpoints(tmp_path / "t" / "checkpoints")] == [3, 6, 7]
    assert [e["update"] for e in events(tmp_path / "t", "validation")] == [7]


def test_validations_and_checkpoints_change_nothing_of_the_training(train_here: Train, tmp_path: Path) -> None:
    """Dropout is off while a model is validated, and on again afterwards."""
    losses = []
    for every in ("1", "100"):
        changes = {"training.validate_every": every, "training.checkpoint_every": every}
        train_here(tmp_path / every, {"training.updates": "4", "model.dropout": "0.5", **changes})
        losses.append([event["loss"] for event in events(tmp_path / every, "update")])
    assert losses[0] == losses[1]


def test_the_loss_falls(finished: Path) -> None:
    updates = events(finished, "update")
    assert updates[-1]["log_loss"] < updates[0]["log_loss"] - 0.5


def test_the_rate_is_that_of_the_schedule(finished: Path) -> None:
    rates = [e["rate"] for e in events(finished, "update")]
    assert rates[0] == pytest.approx(0.01 / 5, rel=1e-5)
    assert max(rates) == rates[4] == pytest.approx(0.01, rel=1e-5)
    assert rates[-1] == pytest.approx(0, abs=1e-9)


def test_the_published_translator_says_where_it_comes_from(finished: Path) -> None:
    card = Run(finished).read_card()
    assert (card.source, card.target) == ("ko", "en")
    assert card.training.updates == 24
    assert card.training.seed == 1
    assert card.scores["bleu"].signature
    assert len(Translator.load(finished, device="cpu").translate(["저는 학생입니다.", ""])) == 2


def test_validation_examples_are_kept_for_the_report(finished: Path) -> None:
    lines = (finished / "validation.jsonl").read_text(encoding="utf-8").splitlines()
    assert all(set(json.loads(line)) >= {"source", "reference", "translation"} for line in lines)


def test_another_training_is_not_overwritten(finished: Path, train_here: Train) -> None:
    before = (finished / "weights.safetensors").read_bytes()
    with pytest.raises(DirectoryError, match="already holds a training"):
        train_here(finished)
    assert (finished / "weights.safetensors").read_bytes() == before


def test_there_must_be_a_training_to_resume(tmp_path: Path, train_here: Train) -> None:
    with pytest.raises(DirectoryError, match="holds no training to resume"):
        train_here(tmp_path / "none", resume=True)


def test_the_same_seed_gives_the_same_weights_and_another_gives_others(
    finished: Path, train_here: Train, tmp_path: Path
) -> None:
    train_here(tmp_path / "same", {"training.updates": "3"})
    train_here(tmp_path / "again", {"training.updates": "3"})
    train_here(tmp_path / "other", {"training.updates": "3"}, seed=2)
    same, again, other = ((tmp_path / name / "weights.safetensors").read_bytes() for name in ("same", "again", "other"))
    assert same == again
    assert same != other


def test_resume_goes_on_with_more_updates_and_another_learning_rate(train_here: Train, tmp_path: Path) -> None:
    out = tmp_path / "on"
    train_here(out, {"training.updates": "4", "training.schedule": "constant"})
    train_here(out, {"training.updates": "7", "training.peak": "0.002"}, resume=True)
    updates = events(out, "update")
    assert [e["update"] for e in updates] == list(range(1, 8))
    assert [e["rate"] for e in updates[4:]] == pytest.approx([0.002] * 3)
    assert Run(out).read_card().recipe.training.peak == 0.002
    seconds = [e["seconds"] for e in updates]
    assert seconds == sorted(seconds)


def test_resume_keeps_the_minutes_unless_it_is_given_others(train_here: Train, tmp_path: Path) -> None:
    out = tmp_path / "minutes"
    train_here(out, {"training.updates": "2"}, minutes=40)
    train_here(out, {"training.updates": "3"}, resume=True)
    assert Run(out).read_job()[1].options.minutes == 40
    train_here(out, {"training.updates": "4"}, resume=True, minutes=50)
    assert Run(out).read_job()[1].options.minutes == 50


def test_auto_takes_the_vocabulary_that_a_small_text_bears_unless_one_was_asked_for(
    corpus: Path, tmp_path: Path
) -> None:
    sizes = {"encoder_layers": "1", "decoder_layers": "1", "d_model": "16", "d_ff": "16", "heads": "2"}
    settings = {f"model.{key}": value for key, value in sizes.items()}
    settings |= {"training.updates": "1", "training.processes": "1", "training.validation_pairs": "2"}
    tongsa.train(corpus, source="ko", target="en", out=tmp_path / "t", settings=settings, threads=1, device="cpu")
    asked_for = {**settings, "subwords.size": "20000"}
    with pytest.raises(VocabularySizeError):
        tongsa.train(corpus, source="ko", target="en", out=tmp_path / "u", settings=asked_for, threads=1, device="cpu")
    taken = Run(tmp_path / "t").read_card().recipe.subwords.size
    assert 500 < taken == len(Subwords.load(tmp_path / "t").target) - 1, "as many as there are, besides <pad>"


@pytest.mark.parametrize(
    ("d_model", "batch", "chunk"), [(16, 9000, 1800), (130, 9000, 1000), (16, 3072, 1536), (16, 500, 500)]
)
def test_what_the_recipe_leaves_to_the_machine_is_decided_and_written_down(
    train_here: Train, tmp_path: Path, d_model: int, batch: int, chunk: int
) -> None:
    changes = {"training.processes": "0", "training.chunk_tokens": "0", "training.updates": "1"}
    changes |= {"model.d_model": str(d_model), "training.batch_tokens": str(batch)}
    train_here(tmp_path / "t", changes)
    recipe, job = Run(tmp_path / "t").read_job()
    assert (recipe.training.processes, recipe.training.chunk_tokens, job.threads) == (1, chunk, 1)


@pytest.mark.parametrize("change", ["model.d_model=32", "model.norm=post", "subwords.size=500", "corpus.max_tokens=9"])
def test_resume_refuses_another_model_or_other_data(finished: Path, train_here: Train, change: str) -> None:
    key, value = change.split("=")
    recipe = (finished / "recipe.toml").read_text()
    with pytest.raises(UsageError, match=rf"\[{key.split('.')[0]}\] of a training cannot change"):
        train_here(finished, {key: value}, resume=True)
    assert (finished / "recipe.toml").read_text() == recipe


def test_resuming_a_finished_training_changes_nothing(train_here: Train, tmp_path: Path) -> None:
    out = tmp_path / "done"
    train_here(out, {"training.updates": "3"})
    before = (out / "weights.safetensors").read_bytes()
    assert train_here(out, resume=True) is not None
    assert (out / "weights.safetensors").read_bytes() == before
    assert max(e["update"] for e in events(out, "update")) == 3


def test_training_stops_early_when_the_score_no_longer_rises(train_here: Train, tmp_path: Path) -> None:
    out = tmp_path / "early"
    changes = {
        "training.updates": "500",
        "training.validate_every": "2",
        "training.patience": "3",
        "training.peak": "1e-12",
        "training.schedule": "constant",
    }
    assert train_here(out, changes) is not None
    validations = [e["update"] for e in events(out, "validation")]
    assert validations == [2, 4, 6, 8]  # the first is the best, three are no better
    assert max(e["update"] for e in events(out, "update")) == 8
    newest = latest(out / "checkpoints")
    assert newest is not None
    progress = newest.progress()
    assert (progress.update, progress.best_update, progress.validations_since_best) == (8, 2, 3)
    assert progress.score == progress.best_score == events(out, "validation")[0]["bleu"]
    before = (out / "weights.safetensors").read_bytes()
    train_here(out, resume=True)
    assert (out / "weights.safetensors").read_bytes() == before, "what has stopped early stays so"


def test_minutes_end_the_training_in_time_with_the_rate_at_0(train_here: Train, tmp_path: Path) -> None:
    out = tmp_path / "minutes"
    train_here(out, {"training.updates": "1000000", "training.validate_every": "0"}, minutes=0.02)
    updates = events(out, "update")
    # Whether an update is the last is asked before its step, its seconds are read after it: the one before the last was
    # asked in time, so the one before that was over in time.
    assert all(update["seconds"] < 1.2 for update in updates[:-2])
    assert updates[-1]["seconds"] >= 1.2
    assert updates[-1]["rate"] == pytest.approx(0, abs=1e-9)
    assert all(update["rate"] > 0 for update in updates[:-1])
    assert events(out, "validation")[-1]["update"] == updates[-1]["update"]


def poison(trainer: Trainer, bad: set[int]) -> None:
    """The gradients of these updates are not finite, as after an overflow."""

    def spoil(gradient: torch.Tensor) -> torch.Tensor:
        return gradient * math.nan if trainer.progress.update + 1 in bad else gradient

    next(iter(trainer.model.parameters())).register_hook(spoil)


def test_a_bad_update_is_skipped_and_said(trainer: Callable[..., Trainer]) -> None:
    subject = trainer(updates="4", validate_every="4")
    poison(subject, {2})
    seen = []
    weights: list[torch.Tensor] = []

    def updated(step: Any, progress: Any) -> None:
        seen.append(step.skipped)
        weights.append(torch.cat([p.detach().flatten() for p in subject.model.parameters()]))

    assert subject.run(Callbacks(on_update=updated)) == End.BUDGET_USED
    assert seen == [False, True, False, False]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[1], weights[2])
    assert all(w.isfinite().all() for w in weights)
    assert float(subject.optimizer.state()["step"]) == 3


def test_three_bad_updates_in_a_row_stop_with_advice(trainer: Callable[..., Trainer]) -> None:
    subject = trainer(updates="20", checkpoint_every="1")
    poison(subject, {3, 4, 6, 7, 8})
    with pytest.raises(TrainingError, match="3 updates in a row") as caught:
        subject.run(Callbacks())
    assert "training.peak" in str(caught.value)
    assert "tongsa resume" in str(caught.value)
    newest = latest(subject.files.checkpoints)
    assert newest is not None
    assert newest.update == 7
    assert all(weight.isfinite().all() for weight in newest.weights().values())


def test_clipping_bounds_the_step_but_not_what_is_told(trainer: Callable[..., Trainer]) -> None:
    subject = trainer(clip="0.001")
    _, chunks = next(subject.objective.order.updates(subject.progress.position))
    step = subject.update(chunks)
    assert step.gradient_norm > 0.001
    assert float(subject.optimizer.gradient.norm()) == pytest.approx(0.001, rel=1e-4)


def test_gradient_accumulation_equals_one_large_chunk(trainer: Callable[..., Trainer]) -> None:
    """Without dropout and sampling, an update in many chunks and in one has the same gradient."""
    subject = trainer()
    assert isinstance(subject.objective, TranslationObjective)
    subject.objective.recipe = subject.recipe.with_settings({"subwords.sampling": "0.0"})
    subject.model.eval()
    _, chunks = next(subject.objective.order.updates(subject.progress.position))
    assert len(chunks) > 1
    gradients = []
    for pieces in (chunks, [torch.cat([torch.from_numpy(c) for c in chunks]).numpy()]):
        subject.optimizer.clear()
        for index, rows in enumerate(pieces):
            subject._add_gradient(rows, index)
        gradients.append(subject.optimizer.gradient.clone())
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-4, rtol=1e-4)


def test_checkpoints_that_no_average_wants_are_not_kept(finished: Path) -> None:
    assert len(checkpoints(finished / "checkpoints")) == 2


def test_validation_copes_with_pairs_beyond_the_learned_positions(train_here: Train, tmp_path: Path) -> None:
    """All held-out pairs are translated; the loss is that of the pairs that the model can read whole."""
    changes = {"model.positions": "learned", "model.max_positions": "16", "corpus.max_tokens": "15"}
    out = tmp_path / "learned"
    assert train_here(out, {**changes, "training.updates": "2", "subwords.sampling": "0.0"}) is not None
    assert all(event["log_loss"] > 0 for event in events(out, "validation"))
