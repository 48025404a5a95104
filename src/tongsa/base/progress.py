"""Progress of long jobs: a bar with rate and time left on a terminal, occasional plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

SECONDS_BETWEEN_LINES = 10.0
WIDE = 110
"""Columns from which a bar is drawn in full, with the rate."""


class Bar(Protocol):
    def advance(self, amount: float, note: str = "") -> None: ...


class Show(Protocol):
    """Receives the progress of a job."""

    def say(self, text: str) -> None: ...

    def bar(self, title: str, total: float | None, unit: str, done: float = 0.0) -> AbstractContextManager[Bar]: ...


class Silent:
    """Shows nothing."""

    def say(self, text: str) -> None:
        pass

    @contextmanager
    def bar(self, title: str, total: float | None, unit: str, done: float = 0.0) -> Iterator[Bar]:
        yield _SilentBar()


class _SilentBar:
    def advance(self, amount: float, note: str = "") -> None:
        pass


class Plain:
    """Prints lines, for a log file or a pipe."""

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    @contextmanager
    def bar(self, title: str, total: float | None, unit: str, done: float = 0.0) -> Iterator[Bar]:
        bar = _PlainBar(title, total, unit, done)
        yield bar
        bar.tell()


class _PlainBar:
    def __init__(self, title: str, total: float | None, unit: str, done: float) -> None:
        self.title, self.total, self.unit = title, total, unit
        self.before = self.done = done
        self.note = ""
        self.began = self.told = time.monotonic()

    def advance(self, amount: float, note: str = "") -> None:
        self.done += amount
        self.note = note or self.note
        if time.monotonic() - self.told >= SECONDS_BETWEEN_LINES:
            self.tell()

    def tell(self) -> None:
        self.told = time.monotonic()
        seconds = max(self.told - self.began, 1e-9)
        rate = (self.done - self.before) / seconds
        count = f"{self.done:,.0f}" + (f" of {self.total:,.0f}" if self.total else "")
        parts = [f"{self.title}: {count} {self.unit}, {rate:,.1f}/s", self.note]
        if self.total and rate and self.done < self.total:
            parts.append(f"{duration((self.total - self.done) / rate)} left")
        print("  ".join(filter(None, parts)), file=sys.stderr, flush=True)
        self.note = ""


class Terminal:
    """A bar drawn by rich."""

    def __init__(self) -> None:
        from rich.console import Console

        self.console = Console(stderr=True, highlight=False)

    def say(self, text: str) -> None:
        self.console.print(text, markup=False)

    @contextmanager
    def bar(self, title: str, total: float | None, unit: str, done: float = 0.0) -> Iterator[Bar]:
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.table import Column

        def whole(text: str) -> TextColumn:
            return TextColumn(text, table_column=Column(no_wrap=True))

        narrow = self.console.width < WIDE
        columns = [
            whole("{task.description}"),
            BarColumn(bar_width=8 if narrow else 40),
            whole("{task.fields[count]}" + f" {unit}"),
            *([] if narrow else [whole("{task.fields[rate]}")]),
            *([TimeRemainingColumn(compact=True, table_column=Column(no_wrap=True))] if total else []),
            # Only the note is cut if the line is too long.
            TextColumn("{task.fields[note]}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)),
        ]
        with Progress(*columns, console=self.console, expand=True) as progress:
            count = _count(done, total)
            task = progress.add_task(title, total=total, completed=done, note="", rate="", count=count)  # type: ignore[arg-type]
            yield _TerminalBar(task, progress, total, done)


class _TerminalBar:
    def __init__(self, task: int, progress: object, total: float | None, done: float) -> None:
        self.task, self.progress, self.total = task, progress, total
        self.before = self.done = done
        self.began = time.monotonic()

    def advance(self, amount: float, note: str = "") -> None:
        self.done += amount
        rate = f"{(self.done - self.before) / max(time.monotonic() - self.began, 1e-9):,.1f}/s"
        fields = {"rate": rate, "count": _count(self.done, self.total), **({"note": note} if note else {})}
        self.progress.update(self.task, advance=amount, **fields)  # type: ignore[attr-defined]


def _count(done: float, total: float | None) -> str:
    return f"{done:,.0f}" if total is None else f"{done:,.0f}/{total:,.0f}"


def for_this_stream() -> Show:
    """Return a progress bar if standard error is a terminal, else plain lines."""
    return Terminal() if sys.stderr.isatty() else Plain()


def duration(seconds: float) -> str:
    """`5s`, `3m 20s`, `2h 05m`"""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
