"""The memory network on the bAbI tasks, beside the published errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import small_stories as town
from tongsa.base.errors import UsageError
from tongsa.base.locks import locked
from tongsa.base.progress import Silent
from tongsa.data.stories import load_questions, read_tasks
from tongsa.lab.babi import Settings, published, report, story_text
from tongsa.lab.babi_results import TABLE_1, BabiResults, NetworkResult, TaskResult, as_text
from tongsa.runs.directory import Run
from tongsa.tasks.question_answering import QuestionAnswerer

QUICK = Settings(epochs=2, d=8, threads=1)


def run(data: Path, settings: Settings, out: Path, *, resume: bool = False, tasks: set[int] | None = None) -> str:
    return report(data, read_tasks(data, tasks), settings, out, resume=resume, shown=1, show=Silent())


def test_the_errors_of_the_paper_have_the_means_that_it_prints() -> None:
    for column in TABLE_1:
        assert len(column.errors) == 20
        assert abs(sum(column.errors) / 20 - column.mean) <= 0.051, column.name


def test_an_experiment_stands_beside_the_column_that_was_trained_in_its_way() -> None:
    names = {joint: published(Settings(joint=joint)).name for joint in (True, False)}  # type: ignore[union-attr]
    assert names == {True: "3 hops PE LS RN joint", False: "3 hops PE LS RN"}
    assert published(Settings(noise=0.0)).name == "3 hops PE LS joint"  # type: ignore[union-attr]
    assert published(Settings(joint=False, hops=2)) is None
    assert published(Settings(encoding="bag")) is None
    assert published(Settings(encoding="released", linear_epochs=30)).mean == 12.4  # type: ignore[union-attr]
    assert published(Settings(linear_start=False)) is None


def test_the_settings_become_those_of_the_one_trainer(tmp_path: Path) -> None:
    tasks = read_tasks(town.folder(tmp_path / "data", train=100))
    joint, alone = Settings().recipe(tasks), Settings(joint=False, linear_start=False).recipe(tasks[:1])
    assert (joint["training.updates"], joint["training.validate_every"]) == (str(60 * 6), "6")  # 180 questions
    assert (alone["training.updates"], alone["training.validate_every"]) == (str(100 * 3), "3")
    assert (joint["model.d_model"], alone["model.d_model"]) == ("50", "20")
    assert (joint["training.schedule"], alone["training.schedule"]) == ("linear-start", "annealed")


def test_the_report_names_errors_and_shows_where_the_hops_attend(tmp_path: Path) -> None:
    data, out = town.folder(tmp_path / "data"), tmp_path / "out"
    text = run(data, Settings(epochs=2, d=8, seeds=2, threads=1), out)
    values = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert [task["task"] for task in values["tasks"]] == [1, 2]
    assert f"{100 * values['mean_error']:.1f}" in text
    assert "hop 3" in text
    page = (out / "babi.html").read_text(encoding="utf-8")
    assert page.count("<script") == 1  # the kit's, which the page can be read without
    assert "Where is" in page
    losses = {}
    for name in ("joint-1", "joint-2"):
        answerer = QuestionAnswerer.load(out / name, device="cpu")
        losses[name] = answerer.loss(load_questions(Run(out / name).data / "valid.jsonl"))
    assert {task["network"] for task in values["tasks"]} == {min(losses, key=lambda name: losses[name])}
    best = QuestionAnswerer.load(out / values["tasks"][0]["network"], device="cpu")
    assert values["tasks"][0]["error"] == best.error(read_tasks(data)[0].test)


def test_each_task_alone_has_a_network_of_its_own(tmp_path: Path) -> None:
    data = town.folder(tmp_path / "data")
    run(data, Settings(joint=False, epochs=1, d=8, threads=1), tmp_path / "out")
    values = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert [task["network"] for task in values["tasks"]] == ["task-1-1", "task-2-1"]
    questions = load_questions(Run(tmp_path / "out" / "task-2-1").data / "train.jsonl")
    assert {question.task for question in questions} == {2}


def test_networks_that_are_there_are_kept_and_never_mixed_with_others(tmp_path: Path) -> None:
    data, out = town.folder(tmp_path / "data"), tmp_path / "out"
    text = run(data, QUICK, out)
    written = Run(out / "joint-1").weights_file.stat().st_mtime_ns
    with pytest.raises(UsageError, match="already contains trained networks"):
        run(data, QUICK, out)
    with pytest.raises(UsageError, match="trained with other settings"):
        run(data, Settings(epochs=2, d=8, hops=2, threads=1), out, resume=True)
    with pytest.raises(UsageError, match="trained with other settings"):
        run(data, QUICK, out, resume=True, tasks={1})
    assert run(data, QUICK, out, resume=True) == text
    assert Run(out / "joint-1").weights_file.stat().st_mtime_ns == written


def test_a_story_is_shown_in_its_order_with_what_did_not_fit(tmp_path: Path) -> None:
    data, out = town.folder(tmp_path / "data"), tmp_path / "out"
    run(data, Settings(epochs=1, memories=4, d=8, threads=1), out)
    answerer = QuestionAnswerer.load(out / "joint-1", device="cpu")
    for answer in answerer.answer(read_tasks(data)[0].test):
        told = len(answer.question.story)
        assert answer.first == max(0, told - 4)
        text = story_text(answer)
        places = [text.index(sentence) for sentence in dict.fromkeys(answer.question.story[answer.first :])]
        assert places == sorted(places)
        assert ("do not fit into the memory" in text) == (answer.first > 0)


def network(seed: int, loss: float, tasks: list[TaskResult], training_loss: float = 1.0) -> NetworkResult:
    return NetworkResult(
        network=f"joint-{seed}",
        group="joint",
        seed=seed,
        validation_loss=loss,
        validation_error=loss,
        training_loss=training_loss,
        tasks=tuple(tasks),
    )


def test_of_several_seeds_the_best_is_chosen_by_validation_and_the_mean_is_told_with_it() -> None:
    errors = {1: (0.2, 0.4), 2: (0.0, 0.2), 3: (0.1, 0.0)}
    losses = {1: 0.3, 2: 0.1, 3: 0.2}  # by the test questions the third would be the best
    networks = [
        network(seed, losses[seed], [TaskResult(t, "x", 10, e, f"joint-{seed}") for t, e in enumerate(each, 1)], -seed)
        for seed, each in errors.items()
    ]
    results = BabiResults(networks)
    assert [task.network for task in results.best()] == ["joint-2", "joint-2"]
    assert [task.network for task in results.best("training_loss")] == ["joint-3", "joint-3"]
    assert results.means() == pytest.approx({1: 0.3, 2: 0.1, 3: 0.05})
    lines = {line.split(":")[0]: line.split()[-3:] for line in as_text(results, None).splitlines()}
    assert lines["1"] == ["0.0", "10.0", "10.0"]
    (mean,) = [line.split()[2:] for line in as_text(results, None).splitlines() if line.startswith("mean error")]
    assert mean == ["10.0", "15.0", "13.2"]


def test_a_network_that_another_process_trains_is_left_to_it(tmp_path: Path) -> None:
    data, out = town.folder(tmp_path / "data"), tmp_path / "out"
    with locked(out / ".locks" / "joint-2.lock", "a run of joint-2", lambda _: None):
        run(data, Settings(epochs=1, d=8, seeds=2, threads=1), out)
    values = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert [network["seed"] for network in values["networks"]] == [1]
    assert not (out / "joint-2").exists()


def test_a_mean_of_the_paper_is_shown_beside_all_twenty_tasks_only() -> None:
    def mean(tasks: range) -> list[str]:
        results = [TaskResult(task, "x", 10, 0.5, "joint-1") for task in tasks]
        text = as_text(BabiResults([network(1, 0.5, results)]), published(Settings()))
        (line,) = [line for line in text.splitlines() if line.startswith("mean error")]
        return line.split()[2:]

    assert mean(range(1, 21)) == ["50.0", "12.4"]
    assert mean(range(1, 20)) == ["50.0"]
