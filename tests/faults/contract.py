"""What holds after any fault: a clear error, no half-written file, earlier data intact, and the next run succeeds."""

from __future__ import annotations

import errno
import gc
import io
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from unittest.mock import patch

from faults.watching import EndedError, Ending, Failing, Watcher, tree, watching
from tongsa.base import locks
from tongsa.base.errors import TongsaError
from tongsa.cli.main import main

ERRORS = (errno.ENOSPC, errno.EIO, errno.EINTR)
LEFTOVER = re.compile(r"(?:.*/)?\.[^/]*\.\d+\.(?:tmp|old)(?:/.*)?")
"""Temporary names, which a kill leaves behind."""
JOURNAL = re.compile(r"(?:.*/)?(?:[^/]*\.part(?:\.json|\.lock)?|\.[^/]*\.done\.json)")
"""Files of an interrupted bulk translation."""


@dataclass(frozen=True)
class Scenario:
    """A command over earlier data."""

    prepare: Callable[[Path], None]
    """Write the earlier data into an empty folder."""
    run: Callable[[Path], None]
    """Do the work; a fault is raised as a TongsaError."""
    together: tuple[str, ...] = ()
    """Files that belong together: old ones never stand beside new ones, and a kill may leave some without a name."""
    again: Callable[[Path], None] | None = None
    """Go on after a fault; by default, do the work again."""


def command(*arguments: object) -> None:
    """Run a command in this process; the error that it prints is raised."""
    told = io.StringIO()
    with patch.object(sys, "argv", ["tongsa", *map(str, arguments)]), redirect_stderr(told), redirect_stdout(told):
        try:
            main()
        except SystemExit as end:
            if end.code:
                lines = [line for line in told.getvalue().split("\n") if line.startswith("error: ")]
                if end.code != 2 or len(lines) != 1:
                    raise AssertionError(f"exit code {end.code}: {told.getvalue()}") from None
                raise TongsaError(told.getvalue().partition("error: ")[2]) from None


def lasting(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if not LEFTOVER.fullmatch(name) and not JOURNAL.fullmatch(name)}


class Trial:
    """One scenario, with what its folder holds before and after."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario = scenario
        self.folder, self.earlier = folder / "work", folder / "earlier"
        self.earlier.mkdir(parents=True)
        scenario.prepare(self.earlier)
        self.reset()
        self.before = tree(self.folder)
        scenario.run(self.folder)
        self.after = tree(self.folder)
        assert self.after != self.before, "the scenario writes something"

    def reset(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.earlier, self.folder)

    def fail_every_call(self, errors: Sequence[int] = ERRORS, step: int = 1) -> int:
        """Let each call fail once, with each error by turns; return how many did."""
        for done in count():
            self.reset()
            error = errors[done % len(errors)]
            failing = Failing(1 + done * step, error)
            told = self._told(failing)
            if failing.failed is None:
                assert told is None
                assert lasting(tree(self.folder)) == lasting(self.after)
                return done
            where = f"{os.strerror(error)} at call {failing.at}, {failing.failed}: {told}"
            self._check(where, succeeded=told is None)
            litter = [name for name in tree(self.folder) if LEFTOVER.fullmatch(name)]
            assert not litter or failing.failed.kind in ("unlink", "rmdir", "open"), where
            if told is not None:
                assert os.strerror(error) in told, where
            self._check_next_run(where)
        raise AssertionError

    def end_at_every_call(self, step: int = 1) -> int:
        """End the process at each call; return at how many."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # a process that ends closes no files
            ends = self._end_at_every_call(step)
            gc.collect()
        return ends

    def _end_at_every_call(self, step: int) -> int:
        for done in count():
            self.reset()
            where = self._ended(Ending(1 + done * step))
            if where is None:
                return done
            for descriptor in list(locks._held):  # the system frees the locks of a process that has ended
                locks._close(descriptor)
            self._check(where, killed=True)
            self._check_next_run(where)
        raise AssertionError

    def _told(self, failing: Failing) -> str | None:
        """Run with a fault; return the error."""
        try:
            with watching(self.folder, failing):
                self.scenario.run(self.folder)
        except TongsaError as error:
            return str(error)
        return None

    def _ended(self, ending: Ending) -> str | None:
        """Run to a call that ends the process; return where that was."""
        try:
            with watching(self.folder, ending):
                self.scenario.run(self.folder)
        except EndedError as end:
            return f"killed at call {ending.at}, {end}"
        return None

    def _check(self, where: str, *, succeeded: bool = False, killed: bool = False) -> None:
        self.check_state(tree(self.folder), where, killed=killed)
        if succeeded:
            assert lasting(tree(self.folder)) == lasting(self.after), where

    def check_state(self, now: dict[str, bytes], where: str, *, killed: bool) -> None:
        """Every file with a final name is the earlier one or the new one."""
        for name, data in lasting(now).items():
            assert data in (self.before.get(name), self.after.get(name)), f"{name} is neither old nor new; {where}"
        together = [name for name in self.scenario.together if name in now]
        new = {now[name] == self.after[name] for name in together if self.before.get(name) != self.after[name]}
        assert len(new) < 2, f"{together} are of different runs; {where}"
        for name in lasting(self.before):
            kept = name in now or name not in self.after or (killed and name in self.scenario.together)
            assert kept, f"{name} is lost; {where}"

    def _check_next_run(self, where: str) -> None:
        try:
            with watching(self.folder, Watcher()):  # fsync is slow
                (self.scenario.again or self.scenario.run)(self.folder)
        except TongsaError as error:
            raise AssertionError(f"the next run: {error}; {where}") from error
        assert lasting(tree(self.folder)) == lasting(self.after), where
