"""Loggers get every number, keep their place when a training is resumed, and never stop it."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tongsa.base.errors import MissingExtraError, UsageError
from tongsa.base.registry import Registry
from tongsa.runs import loggers as module
from tongsa.runs.loggers import LoggedRun, Loggers, check_loggers


class Recording:
    """Remembers what it was told; fails when it is asked to."""

    made: list[Recording] = []  # noqa: RUF012

    def __init__(self, run: LoggedRun) -> None:
        self.run, self.logged, self.closed = run, [], False
        Recording.made.append(self)

    def log(self, values: Any, update: int) -> None:
        if "update/fail" in values:
            raise ConnectionError("the server is gone\nand more lines")
        self.logged.append((update, values))

    def close(self) -> None:
        self.closed = True


class Broken:
    def __init__(self, run: LoggedRun) -> None:
        raise RuntimeError


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    Recording.made = []
    known = {**module.LOGGERS.builtin, "one": Recording, "other": Recording, "broken": Broken}
    monkeypatch.setattr(module, "LOGGERS", Registry("tongsa.loggers", known, kind="logger"))


def run_in(folder: Path) -> LoggedRun:
    return LoggedRun(directory=folder, settings={"training.updates": 7})


def test_only_finite_numbers_are_sent_each_with_the_name_of_its_event(tmp_path: Path) -> None:
    loggers = Loggers(["one", "other"], run_in(tmp_path), print)
    loggers.log("update", {"loss": 2, "rate": math.nan, "skipped": True, "weights": "best"}, 5)
    loggers.log("checkpoint", {}, 6)
    loggers.close()
    assert [each.logged for each in Recording.made] == [[(5, {"update/loss": 2.0})]] * 2
    assert all(each.closed for each in Recording.made)


def test_a_logger_that_fails_is_told_once_and_left_out_and_the_others_go_on(tmp_path: Path) -> None:
    said: list[str] = []
    loggers = Loggers(["broken", "one"], run_in(tmp_path), said.append)
    loggers.log("update", {"loss": 1.0}, 1)
    loggers.log("update", {"fail": 1.0}, 2)
    loggers.log("update", {"fail": 1.0}, 3)
    loggers.close()
    assert [line.partition(";")[0] for line in said] == [
        "the logger broken failed and is left out: RuntimeError",
        "the logger one failed and is left out: the server is gone",
    ]
    assert Recording.made[0].logged == [(1, {"update/loss": 1.0})]


def test_an_unknown_logger_and_a_missing_package_are_errors_before_a_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    monkeypatch.delitem(sys.modules, "mlflow", raising=False)
    check_loggers(["one"])
    with pytest.raises(UsageError, match="unknown logger: two"):
        check_loggers(["one", "two"])
    with pytest.raises(MissingExtraError, match=r"pip install 'tongsa\[mlflow\]'"):
        check_loggers(["mlflow"])


@contextmanager
def fake(monkeypatch: pytest.MonkeyPatch, name: str, **functions: Any) -> Iterator[None]:
    found = ModuleType(name)
    for key, value in functions.items():
        setattr(found, key, value)
    monkeypatch.setitem(sys.modules, name, found)
    yield


def test_mlflow_gets_settings_once_and_a_resumed_training_goes_on_in_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []

    def start_run(run_name: str | None = None, run_id: str | None = None) -> Any:
        calls.append(("start", run_name, run_id))
        return SimpleNamespace(info=SimpleNamespace(run_id="abc"))

    with fake(
        monkeypatch,
        "mlflow",
        start_run=start_run,
        end_run=lambda: calls.append("end"),
        log_params=lambda values: calls.append(values),
        log_metrics=lambda values, step, synchronous: calls.append((values, step, synchronous)),
    ):
        check_loggers(["mlflow"])
        for update in (1, 2):
            loggers = Loggers(["mlflow"], run_in(tmp_path), pytest.fail)
            loggers.log("validation", {"bleu": 30.0}, update)
            loggers.close()
    begun = [("start", tmp_path.name, None), {"training.updates": "7"}, "end"]
    first = [("start", None, "abc"), ({"validation/bleu": 30.0}, 1, False), "end"]
    second = [("start", None, "abc"), ({"validation/bleu": 30.0}, 2, False), "end"]
    assert calls == [*begun, *first, *second]


def test_weights_and_biases_is_resumed_by_the_id_in_the_run_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[dict[str, Any]] = []
    logged: list[Any] = []

    def init(**options: Any) -> Any:
        begun.append(options)
        return SimpleNamespace(log=lambda values, step: logged.append((values, step)), finish=lambda: None)

    with fake(monkeypatch, "wandb", init=init):
        for update in (1, 2):
            loggers = Loggers(["wandb"], run_in(tmp_path), pytest.fail)
            loggers.log("update", {"loss": 0.5}, update)
            loggers.close()
    assert logged == [({"update/loss": 0.5}, 1), ({"update/loss": 0.5}, 2)]
    assert begun[0] == begun[1]
    assert (begun[0]["name"], begun[0]["config"], begun[0]["resume"]) == (
        tmp_path.name,
        {"training.updates": 7},
        "allow",
    )


def test_tensorboard_can_be_read_by_its_own_reader(tmp_path: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    loggers = Loggers(["tensorboard"], run_in(tmp_path), pytest.fail)
    for update in (1, 2):
        loggers.log("update", {"loss": 1 / update}, update)
    loggers.close()
    events = accumulator.EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert [(each.step, each.value) for each in events.Scalars("update/loss")] == [(1, 1.0), (2, 0.5)]
