"""A grid of runs: rows (models, or settings of one) by seeds. Every cell is run once, however often it is asked for.

Several processes may run the same grid at the same time, also on several machines with one file system: each takes the
cells that are neither finished nor held by another one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from tongsa.base.errors import LockedError, TongsaError
from tongsa.base.locks import locked
from tongsa.base.progress import Show

T = TypeVar("T")

POLL_SECONDS = 0.5
"""How often a process looks whether another one has freed a lock that it waits for."""


@dataclass(frozen=True)
class Cell:
    """One run: a row of the table, and a seed."""

    row: str
    seed: int
    label: str
    """Name of its directory: the row, and for all seeds but the first one also the seed."""


def cells(rows: Sequence[str], seeds: Sequence[int]) -> list[Cell]:
    """All cells, the first seed of every row before the second of any: a whole table is there as early as possible."""
    return [
        Cell(row, seed, row if seed == seeds[0] else f"{row}.seed{seed}")
        for seed in dict.fromkeys(seeds)
        for row in rows
    ]


def consecutive(seed: int, count: int) -> tuple[int, ...]:
    """The seeds of `count` runs: `seed` and those that follow it."""
    return tuple(range(seed, seed + count))


@dataclass(kw_only=True)
class GridResults(Generic[T]):
    """What is known of a grid when a process has gone through it."""

    done: dict[Cell, T] = field(default_factory=dict)
    failed: dict[Cell, str] = field(default_factory=dict)
    elsewhere: list[Cell] = field(default_factory=list)
    """Cells that other processes are still running."""
    interrupted: bool = False
    """Whether a run was asked to stop: the same call continues it."""

    def by_row(self) -> dict[str, dict[int, T]]:
        """Results by row and seed; a row without any result is left out."""
        found: dict[str, dict[int, T]] = {}
        for cell in sorted(self.done, key=lambda cell: cell.seed):
            found.setdefault(cell.row, {})[cell.seed] = self.done[cell]
        return found

    def unfinished(self) -> dict[str, str]:
        """Why cells have no result, by label: what failed, and what another process is running."""
        failures = {cell.label: why for cell, why in self.failed.items()}
        return failures | {cell.label: "another process is running it" for cell in self.elsewhere}


def run_grid(
    grid: Sequence[Cell],
    *,
    stored: Callable[[Cell], T | None],
    run: Callable[[Cell], T | None],
    locks: Path,
    show: Show,
) -> GridResults[T]:
    """Run the cells that have no result yet. One that fails does not cost the others theirs.

    stored   reads the result of a finished cell from disk; None if there is none
    run      runs a cell, or continues it, and stores its result; None if it was interrupted
    locks    a folder for lock files, the same for all processes that share the grid
    """
    results: GridResults[T] = GridResults()
    for number, cell in enumerate(grid, 1):
        _run_cell(results, cell, f"[{number} of {len(grid)}] {cell.label}", stored, run, locks, show)
        if results.interrupted:
            return results
    for cell in tuple(results.elsewhere):  # others may have finished theirs, or have been killed
        results.elsewhere.remove(cell)
        _run_cell(results, cell, cell.label, stored, run, locks, show)
        if results.interrupted:
            break
    return results


def _run_cell(
    results: GridResults[T],
    cell: Cell,
    title: str,
    stored: Callable[[Cell], T | None],
    run: Callable[[Cell], T | None],
    locks: Path,
    show: Show,
) -> None:
    try:
        found = stored(cell)
        if found is not None:
            show.say(f"{title}: finished before")
        else:
            with locked(locks / f"{cell.label}.lock", f"a run of {cell.label}", show.say):
                found = stored(cell)  # another process may have finished it before this one held the lock
                if found is None:
                    show.say(f"\n{title}")
                    found = run(cell)
    except LockedError:
        results.elsewhere.append(cell)
        show.say(f"{title}: another process is running it")
        return
    except (TongsaError, RuntimeError) as error:
        results.failed[cell] = str(error)
        show.say(f"{cell.label} failed: {error}")
        return
    if found is None:
        results.interrupted = True
    else:
        results.done[cell] = found


@contextmanager
def waiting_for(lock: Path, what: str, show: Show) -> Iterator[None]:
    """Hold a lock, after waiting for the process that has it: for short work that all processes of a grid need."""
    with ExitStack() as stack:
        said = False
        while True:
            try:
                stack.enter_context(locked(lock, what, show.say))
                break
            except LockedError:
                if not said:
                    show.say(f"waiting for another process: {what}")
                said = True
                time.sleep(POLL_SECONDS)
        yield
