"""A comparison is made of the same ids, survives whatever stops it, and does nothing twice."""

from __future__ import annotations

import dataclasses
import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.lab.conftest import SETTINGS, UPDATES, Compare

import forked
from tongsa.base.errors import CorpusError, DirectoryError, TrainingError, UsageError
from tongsa.base.locks import locked
from tongsa.base.progress import Show, Silent
from tongsa.lab.compare import running
from tongsa.lab.compare.comparison import Comparison
from tongsa.lab.compare.plan import CompareOptions
from tongsa.lab.compare.preparing import prepare_comparison
from tongsa.models.weights import read_tensors
from tongsa.runs.directory import Run
from tongsa.runs.log import read_log

Finished = tuple[Path, Comparison]


def same_weights(one: Path, other: Path) -> bool:
    ours, theirs = read_tensors(Run(one).weights_file), read_tensors(Run(other).weights_file)
    return ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


def events(directory: Path, kind: str) -> list[dict[str, Any]]:
    return [event for event in read_log(directory / "log.jsonl") if event["event"] == kind]


def copied(out: Path, to: Path) -> Path:
    shutil.copytree(out, to)
    return to


def test_every_model_has_the_same_ids_and_they_take_no_room(finished: Finished) -> None:
    out, _ = finished
    for path in sorted((out / "prepared" / "data").rglob("*.ids")):
        for model in ("gru", "small"):
            assert (out / "models" / model / path.relative_to(out / "prepared")).samefile(path)


def test_every_model_has_the_same_budget(finished: Finished) -> None:
    _, comparison = finished
    assert {result.updates for result in comparison.results.values()} == {UPDATES}
    assert len({result.target_tokens for result in comparison.results.values()}) == 1


def test_without_a_test_the_validation_set_is_compared_on(compare_here: Compare, tmp_path: Path) -> None:
    comparison = compare_here(tmp_path / "out", "gru", updates=3, test=())
    assert comparison is not None
    assert comparison.sentences == 8
    assert comparison.results["gru"].updates == 3


def test_a_budget_of_minutes_is_handed_to_every_training(compare_here: Compare, tmp_path: Path) -> None:
    """A setting ends this training, the minutes are what the training was told."""
    out = tmp_path / "out"
    settings = {**SETTINGS, "training.updates": "3"}
    comparison = compare_here(out, "gru", minutes=90.0, updates=None, settings=settings)
    assert comparison is not None
    assert comparison.plan.describe(comparison.budget) == "90 minutes each"
    recipe, job = Run(out / "models" / "gru").read_job()
    assert (job.options.minutes, recipe.training.updates) == (90.0, 3)


def test_everything_is_measured(finished: Finished) -> None:
    out, comparison = finished
    for name, result in comparison.results.items():
        assert result.parameters > 1000
        assert result.training_flops > 6 * result.target_tokens * 16 * 700  # the output layer alone
        assert result.tokens_per_second > 0
        assert result.sentences_per_second > 0
        assert len(result.translations) == comparison.sentences == 40
        curve = result.curves["bleu"]
        assert [minute for minute, _ in curve] == sorted(minute for minute, _ in curve)
        assert len(curve) == 3
        assert len(result.reach) > 3, name
        assert set(comparison.scores[name]) == {"bleu", "chrf"}
    assert comparison.results["gru"].picture is None
    picture = comparison.results["small"].picture
    assert picture is not None
    assert [len(picture.weights), len(picture.weights[0])] == [len(picture.rows), len(picture.columns)]
    (told,) = json.loads((out / "comparison.json").read_text(encoding="utf-8"))["comparisons"]
    assert set(told["models"]) == {"gru", "small"}
    assert [row["name"] for row in told["table1"]] == ["gru", "small"]


def test_the_same_call_again_trains_and_measures_nothing(
    compare_here: Compare, finished: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, comparison = finished
    monkeypatch.setattr(running, "fit_and_publish", lambda *_, **__: pytest.fail("it trains"))
    monkeypatch.setattr(running, "measure", lambda *_, **__: pytest.fail("it measures"))
    again = compare_here(out)
    assert again is not None
    assert again.to_values() == comparison.to_values()


def test_seeds_and_budgets_are_trainings_of_their_own_on_the_same_ids(
    compare_here: Compare, finished: Finished, tmp_path: Path
) -> None:
    """A second seed joins a comparison; what was trained stays."""
    out = copied(finished[0], tmp_path / "out")
    comparison = compare_here(out, seeds=2)
    assert comparison is not None
    assert {name: list(by_seed) for name, by_seed in comparison.runs.items()} == {"gru": [1, 2], "small": [1, 2]}
    assert comparison.runs["gru"][1] == finished[1].runs["gru"][1]
    assert not same_weights(out / "models" / "gru", out / "models" / "gru.seed2")
    assert Run(out / "models" / "gru.seed2").read_job()[1].options.seed == 2
    scores = comparison.scores["gru"]["bleu"]
    assert scores.score == pytest.approx(sum(scores.runs) / 2, abs=1e-3)
    text = (out / "comparison.md").read_text(encoding="utf-8")
    assert "sd of seeds" in text
    assert "Holm's correction for all 1 pairs" in text
    html = (out / "comparison.html").read_text(encoding="utf-8")
    assert "--seeds 2" in html


def test_with_both_budgets_every_model_is_trained_with_each_and_both_are_in_the_table(
    compare_here: Compare, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    found = compare_here(out, "gru", both=True, minutes=0.03, updates=2)
    assert [comparison.budget.text for comparison in found] == ["0.03 minutes each", "2 updates each"]
    assert Run(out / "models" / "gru").read_job()[1].options.minutes == 0.03
    recipe, job = Run(out / "models" / "gru.updates").read_job()
    assert (job.options.minutes, recipe.training.updates) == (None, 2)
    text = (out / "comparison.md").read_text(encoding="utf-8")
    assert "BLEU, 0.03 minutes each | BLEU, 2 updates each" in text
    assert (out / "comparison-updates.html").is_file()


def test_processes_that_share_a_comparison_leave_each_other_their_trainings(
    compare_here: Compare, finished: Finished, tmp_path: Path
) -> None:
    out = before_the_second_model(finished, tmp_path / "out")
    with locked(out / "locks" / "small.lock", "a run of small", lambda _: None):
        comparison = compare_here(out)
    assert comparison is not None
    assert list(comparison.runs) == ["gru"]
    assert comparison.unfinished == {"small": "another process is running it"}
    assert not (out / "models" / "small").exists()


def test_the_text_is_not_linked_while_another_process_may_prepare_it(
    compare_here: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, held = tmp_path / "out", []

    def share(*_: Any) -> None:
        held.append((out / "locks" / "prepare.lock").is_file())
        raise TrainingError("enough")

    monkeypatch.setattr(running, "share_prepared", share)
    with pytest.raises(TrainingError, match="no model could be trained"):
        compare_here(out, "gru")
    assert held == [True]


def test_another_metric_needs_no_training(
    compare_here: Compare, finished: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = copied(finished[0], tmp_path / "out")
    monkeypatch.setattr(running, "fit_and_publish", lambda *_, **__: pytest.fail("it trains"))
    comparison = compare_here(out, metrics=("ter",))
    assert comparison is not None
    assert set(comparison.scores["gru"]) == {"ter"}
    values = {name: comparison.scores[name]["ter"].score for name in comparison.ranking}
    assert list(values.values()) == sorted(values.values())


def test_damaged_files_are_salvaged_where_the_settings_say_so(text: Path, tmp_path: Path) -> None:
    pairs = zip(
        *((text / f"train.{code}").read_text(encoding="utf-8").splitlines() for code in ("ko", "en")), strict=True
    )
    units = "".join(
        f'<tu><tuv xml:lang="ko"><seg>{ko}</seg></tuv><tuv xml:lang="en"><seg>{en}</seg></tuv></tu>' for ko, en in pairs
    )
    torn = tmp_path / "torn.tmx"
    torn.write_text(f'<tmx version="1.4"><header/><body>{units}<tu><tuv', encoding="utf-8")
    strict = CompareOptions(
        models=("gru",), corpora=(str(torn),), source="ko", target="en", updates=2, settings=SETTINGS, device="cpu"
    )
    with pytest.raises(CorpusError):
        prepare_comparison(tmp_path / "refused", strict, Silent())
    salvaging = dataclasses.replace(strict, settings={**SETTINGS, "corpus.salvage": "true"})
    plan, test = prepare_comparison(tmp_path / "out", salvaging, Silent())
    assert list(plan.recipes) == ["gru"]
    assert test


def before_the_second_model(finished: Finished, to: Path) -> Path:
    """The directory as it was when the first model was done."""
    out = copied(finished[0], to)
    shutil.rmtree(out / "models" / "small")
    for path in (out / "results" / "small.json", *out.glob("comparison.*")):
        path.unlink()
    return out


def test_stopped_between_two_models_it_goes_on_with_the_second(
    compare_here: Compare, finished: Finished, tmp_path: Path
) -> None:
    out = before_the_second_model(finished, tmp_path / "out")
    first = (out / "results" / "gru.json").stat().st_mtime_ns
    assert compare_here(out) is not None
    assert (out / "results" / "gru.json").stat().st_mtime_ns == first
    assert same_weights(out / "models" / "small", finished[0] / "models" / "small")


def test_killed_inside_a_model_it_goes_on_from_its_checkpoint(
    text: Path, compare_here: Compare, finished: Finished, tmp_path: Path
) -> None:
    out = before_the_second_model(finished, tmp_path / "out")
    command = ["compare", str(text / "train"), "--from=ko", "--to=en"]
    command += [f"--valid={text / 'valid'}", f"--test={text / 'test'}", f"--models=gru,{text / 'small.toml'}"]
    command += [f"--out={out}", f"--updates={UPDATES}", "--threads=1", "--device=cpu"]
    command += [f"--set={key}={value}" for key, value in SETTINGS.items()]
    log = out / "models" / "small" / "log.jsonl"
    process = forked.start(*command, stderr=tmp_path / "said")
    try:
        end = time.monotonic() + 600
        while not (log.is_file() and events(log.parent, "checkpoint")):
            assert process.exitcode is None
            assert time.monotonic() < end
            time.sleep(0.002)
    finally:
        process.kill()
        process.join()
    assert not events(log.parent, "finish")
    assert compare_here(out) is not None
    assert events(log.parent, "resume")[0]["update"] >= 4
    assert same_weights(log.parent, finished[0] / "models" / "small")


def test_a_training_that_was_asked_to_stop_stops_the_comparison(
    compare_here: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "fit_and_publish", lambda *_, **__: None)
    assert compare_here(tmp_path / "out") is None


def test_a_model_that_fails_does_not_cost_the_others(
    compare_here: Compare, finished: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = copied(finished[0], tmp_path / "out")
    train = running.fit_and_publish

    def fail(run: Run, show: Show) -> Any:
        if run.path.name == "lstm":
            raise TrainingError("the gradient was not finite")
        return train(run, show)

    monkeypatch.setattr(running, "fit_and_publish", fail)
    comparison = compare_here(out, "lstm")
    assert comparison is not None
    assert comparison.unfinished == {"lstm": "the gradient was not finite"}
    assert set(comparison.results) == {"gru", "small"}
    assert "the gradient was not finite" in (out / "comparison.html").read_text(encoding="utf-8")


def test_a_model_can_join_and_the_others_stay(compare_here: Compare, finished: Finished, tmp_path: Path) -> None:
    out = copied(finished[0], tmp_path / "out")
    comparison = compare_here(out, "rnn")
    assert comparison is not None
    assert set(comparison.results) == {"gru", "small", "rnn"}
    assert comparison.results["gru"] == finished[1].results["gru"]


def test_another_budget_in_the_same_directory_is_refused(compare_here: Compare, finished: Finished) -> None:
    with pytest.raises(DirectoryError, match="other updates"):
        compare_here(finished[0], updates=5)


def test_another_shape_of_a_trained_model_is_refused(compare_here: Compare, finished: Finished, tmp_path: Path) -> None:
    out = copied(finished[0], tmp_path / "out")
    plan = json.loads((out / "plan.json").read_text(encoding="utf-8"))
    plan["recipes"]["gru"]["model"]["layers"] = 3
    (out / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    with pytest.raises(DirectoryError, match="the recipe of gru has changed"):
        compare_here(out)


def test_a_comparison_needs_a_budget(compare_here: Compare, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="budget"):
        compare_here(tmp_path / "out", updates=None)
    assert not (tmp_path / "out").exists()
