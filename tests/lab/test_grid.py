"""Every cell of a grid is run once, whoever runs it, and a failure costs nobody else anything."""

from __future__ import annotations

import threading
from pathlib import Path

from tongsa.base.errors import TrainingError
from tongsa.base.locks import locked
from tongsa.base.progress import Silent
from tongsa.lab.grid import Cell, GridResults, cells, consecutive, run_grid, waiting_for


def test_a_table_of_the_first_seed_is_there_before_the_second_begins() -> None:
    assert [(cell.row, cell.seed, cell.label) for cell in cells(["a", "b"], consecutive(7, 2))] == [
        ("a", 7, "a"),
        ("b", 7, "b"),
        ("a", 8, "a.seed8"),
        ("b", 8, "b.seed8"),
    ]


class Runs:
    """Counts what is run, and stores results in memory as an experiment does on disk."""

    def __init__(self, locks: Path) -> None:
        self.locks, self.ran = locks, list[str]()
        self.results: dict[Cell, str] = {}

    def run(self, cell: Cell) -> str | None:
        self.ran.append(cell.label)
        if cell.row == "broken":
            raise TrainingError("the gradient was not finite")
        if cell.row == "stopped":
            return None
        self.results[cell] = f"result of {cell.label}"
        return self.results[cell]

    def go(self, grid: list[Cell]) -> GridResults[str]:
        return run_grid(grid, stored=self.results.get, run=self.run, locks=self.locks, show=Silent())


def test_what_is_finished_is_not_run_again(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    runs.go(cells(["a"], [1]))
    found = runs.go(cells(["a", "b"], [1, 2]))
    assert runs.ran == ["a", "b", "a.seed2", "b.seed2"]
    assert found.by_row() == {
        "a": {1: "result of a", 2: "result of a.seed2"},
        "b": {1: "result of b", 2: "result of b.seed2"},
    }


def test_a_cell_that_fails_does_not_cost_the_others_theirs(tmp_path: Path) -> None:
    found = Runs(tmp_path).go(cells(["broken", "a"], [1]))
    assert found.unfinished() == {"broken": "the gradient was not finite"}
    assert found.by_row() == {"a": {1: "result of a"}}


def test_a_cell_that_was_asked_to_stop_stops_the_grid(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    found = runs.go(cells(["a", "stopped", "b"], [1]))
    assert found.interrupted
    assert runs.ran == ["a", "stopped"]


def test_a_cell_that_another_process_runs_is_left_to_it(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    with locked(tmp_path / "a.lock", "a run of a", lambda _: None):
        found = runs.go(cells(["a", "b"], [1]))
    assert runs.ran == ["b"]
    assert found.unfinished() == {"a": "another process is running it"}


def test_a_cell_that_another_process_has_finished_meanwhile_is_read(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    a, b = cells(["a", "b"], [1])
    other = locked(tmp_path / "a.lock", "a run of a", lambda _: None)

    def run(cell: Cell) -> str | None:
        other.__exit__(None, None, None)  # the other process ends while this one runs b
        runs.results[a] = "theirs"
        return runs.run(cell)

    other.__enter__()
    found = run_grid([a, b], stored=runs.results.get, run=run, locks=tmp_path, show=Silent())
    assert runs.ran == ["b"]
    assert found.done == {a: "theirs", b: "result of b"}


def test_short_work_waits_for_the_process_that_does_it(tmp_path: Path) -> None:
    order = []
    first = locked(tmp_path / "prepare.lock", "preparing", lambda _: None)
    first.__enter__()

    def end() -> None:
        order.append("first")
        first.__exit__(None, None, None)

    timer = threading.Timer(0.2, end)
    timer.start()
    with waiting_for(tmp_path / "prepare.lock", "preparing", Silent()):
        order.append("second")
    timer.join()
    assert order == ["first", "second"]
