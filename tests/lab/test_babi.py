from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import small_stories as town
from tongsa.base.errors import DirectoryError, UsageError
from tongsa.base.progress import Silent
from tongsa.lab.babi.experiment import Settings, run
from tongsa.lab.babi.looks import as_text, look
from tongsa.lab.babi.published import TABLE_1, nearest
from tongsa.lab.babi.report import report
from tongsa.lab.babi.saving import read_trained, write_trained
from tongsa.lab.babi.stories import read_tasks
from tongsa.lab.babi.table import as_text as table
from tongsa.lab.babi.table import published

QUICK = Settings(epochs=2, restarts=2, d=8)


def test_the_errors_of_the_paper_have_the_means_that_it_prints() -> None:
    for column in TABLE_1:
        assert len(column.errors) == 20
        assert abs(sum(column.errors) / 20 - column.mean) <= 0.051, column.name


def test_an_experiment_stands_beside_the_column_that_was_trained_in_its_way() -> None:
    names = {
        joint: nearest(joint=joint, hops=3, tying="adjacent", noise=True).name  # type: ignore[union-attr]
        for joint in (True, False)
    }
    assert names == {True: "3 hops PE LS RN joint", False: "3 hops PE LS RN"}
    assert nearest(joint=False, hops=2, tying="adjacent", noise=True) is None
    assert published(Settings(encoding="bag")) is None


@pytest.mark.parametrize("joint", [True, False])
def test_every_task_is_tested_and_the_training_with_the_lowest_loss_answers(tmp_path: Path, joint: bool) -> None:
    tasks = read_tasks(town.folder(tmp_path / "data"))
    settings = Settings(joint=joint, epochs=2, restarts=2, d=8)
    results = run(tasks, settings, tmp_path / "out", False, Silent())
    assert [result.task for result in results] == [1, 2]
    names = {"joint"} if joint else {"task-1", "task-2"}
    assert {path.stem for path in (tmp_path / "out").iterdir()} == {
        f"{name}-{seed}" for name in names for seed in (1, 2)
    }
    for result in results:
        group = result.network.rsplit("-", 1)[0]
        losses = {p.name: read_trained(p).train_loss for p in (tmp_path / "out").glob(f"{group}-*")}
        assert result.network == min(losses, key=lambda name: losses[name])


def test_resuming_trains_only_what_is_missing_and_ends_with_the_same_errors(tmp_path: Path) -> None:
    tasks = read_tasks(town.folder(tmp_path / "data"))
    whole = run(tasks, QUICK, tmp_path / "out", False, Silent())
    kept = (tmp_path / "out" / "joint-1.safetensors").stat().st_mtime_ns
    (tmp_path / "out" / "joint-2.safetensors").unlink()
    assert run(tasks, QUICK, tmp_path / "out", True, Silent()) == whole
    assert (tmp_path / "out" / "joint-1.safetensors").stat().st_mtime_ns == kept


def test_networks_that_are_there_are_never_mixed_with_others(tmp_path: Path) -> None:
    tasks = read_tasks(town.folder(tmp_path / "data"))
    run(tasks, QUICK, tmp_path / "out", False, Silent())
    with pytest.raises(UsageError, match="holds trained networks already"):
        run(tasks, QUICK, tmp_path / "out", False, Silent())
    with pytest.raises(UsageError, match="other settings: hops"):
        run(tasks, Settings(epochs=2, restarts=2, d=8, hops=2), tmp_path / "out", True, Silent())
    with pytest.raises(UsageError, match="other settings: questions"):
        run(tasks[:1], QUICK, tmp_path / "out", True, Silent())


def test_what_is_written_answers_alike_when_read(tmp_path: Path) -> None:
    tasks = read_tasks(town.folder(tmp_path / "data"))
    run(tasks, Settings(epochs=1, tying="layerwise"), tmp_path / "out", False, Silent())
    trained = read_trained(tmp_path / "out" / "joint-1.safetensors")
    write_trained(tmp_path / "again.safetensors", trained)
    again = read_trained(tmp_path / "again.safetensors")
    assert again.network.shape == trained.network.shape
    assert again.lexicon.words == trained.lexicon.words
    assert all(torch.equal(a, b) for a, b in zip(again.network.parameters(), trained.network.parameters(), strict=True))


def test_a_damaged_network_is_named(tmp_path: Path) -> None:
    path = tmp_path / "joint-1.safetensors"
    path.write_bytes(b"\x10\0\0\0\0\0\0\0not json at all ")
    with pytest.raises(DirectoryError, match=r"joint-1\.safetensors is damaged"):
        read_trained(path)


def test_looks_follow_the_order_of_the_story_and_add_up_to_one(tmp_path: Path) -> None:
    tasks = read_tasks(town.folder(tmp_path / "data"))
    run(tasks, Settings(epochs=1, memories=4), tmp_path / "out", False, Silent())
    trained = read_trained(tmp_path / "out" / "joint-1.safetensors")
    for view in look(trained, tasks[0].test):
        told = len(view.question.story)
        assert view.first == max(0, told - 4)
        for weights, nothing in zip(view.weights, view.nothing, strict=True):
            assert len(weights) == told - view.first
            assert abs(sum(weights) + nothing - 1) < 1e-5
        text = as_text(view)
        assert all(sentence in text for sentence in view.question.story[view.first :])
        assert ("do not fit into the memory" in text) == (view.first > 0)


def test_the_report_writes_results_and_a_page(tmp_path: Path) -> None:
    tasks = read_tasks(town.folder(tmp_path / "data"))
    out = tmp_path / "out"
    text = report(tasks, QUICK, out, resume=False, shown=1, show=Silent())
    values = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert [task["task"] for task in values["tasks"]] == [1, 2]
    assert f"{100 * values['mean_error']:.1f}" in text
    assert "hop 3" in text
    page = (out / "babi.html").read_text(encoding="utf-8")
    assert page.count("<script") == 1  # the kit's, which the page can be read without
    assert "Where is" in page


def test_a_mean_of_the_paper_is_shown_beside_all_twenty_tasks_only(tmp_path: Path) -> None:
    tasks = read_tasks(town.folder(tmp_path / "data"))
    results = run(tasks, QUICK, tmp_path / "out", False, Silent())
    (mean,) = [line for line in table(results, QUICK).splitlines() if line.startswith("mean error")]
    assert len(mean.split()) == 3
