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

from faults.watching import Call, EndedError, Ending, Failing, Watcher, tree, watching
from tongsa.base import locks
from tongsa.base.errors import TongsaError
from tongsa.cli.main import main

ERRORS = (errno.ENOSPC, errno.EIO, errno.EINTR)
LEFTOVER = re.compile(r"(?:.*/)?\.[^/]*\.\d+\.(?:tmp|old)(?:/.*)?")
"""Temporary names, which a kill leaves behind."""
JOURNAL = r"(?:.*/)?(?:[^/]*\.part(?:\.json|\.lock)?|\.[^/]*\.done\.json)"
"""Files of an interrupted bulk translation."""
PASSING = re.compile(f"{LEFTOVER.pattern}|{JOURNAL}")


@dataclass(frozen=True)
class Scenario:
    """A command over earlier data."""

    prepare: Callable[[Path], None]
    """Write the earlier data into an empty folder."""
    run: Callable[[Path], None]
    """Do the work; a fault is raised as a TongsaError."""
    together: tuple[str, ...] = ()
    """Files that belong together: old ones never stand beside new ones, and a kill may leave some without a name."""
    ignored: re.Pattern[str] = PASSING
    """Files that are not compared: temporary ones, and those with times in them."""
    stages: bool = False
    """The command publishes results on its way, as a training does: only the end is compared."""
    sound: Callable[[Path], None] | None = None
    """Read what was written, as its readers do; raise an error if it cannot be used."""
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


class Trial:
    """One scenario, with what its folder holds before and after."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario = scenario
        self.folder, self.earlier = folder / "work", folder / "earlier"
        self.earlier.mkdir(parents=True)
        self.do(scenario.prepare, self.earlier)
        self.reset()
        self.before = self.lasting()
        self.do(scenario.run, self.folder)
        self.after = self.lasting()
        assert self.after != self.before, "the scenario writes something"

    def do(self, work: Callable[[Path], None], folder: Path) -> None:
        """Do work without a fault."""
        with watching(folder, Watcher()):  # without fsync, which is slow
            work(folder)

    def reset(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.earlier, self.folder)

    def lasting(self) -> dict[str, bytes]:
        """The files that are compared: those with final names, without times in them."""
        return {name: data for name, data in tree(self.folder).items() if not self.scenario.ignored.fullmatch(name)}

    def fail_every_call(self, errors: Sequence[int] = ERRORS, step: int = 1) -> int:
        """Let each call fail once, with each error by turns; return how many did."""
        for done in count():
            self.reset()
            at, error = 1 + done * step, errors[done % len(errors)]
            failed, told = self.fail(at, error)
            if failed is None:
                assert told is None
                assert self.lasting() == self.after
                return done
            where = f"{os.strerror(error)} at call {at}, {failed}: {told}"
            self.check_state(where)
            if told is None:  # the fault did no harm
                assert self.lasting() == self.after, where
                continue
            assert os.strerror(error) in told, where
            litter = [name for name in tree(self.folder) if LEFTOVER.fullmatch(name)]
            assert not litter or failed.kind in ("unlink", "rmdir", "open"), where
            self.check_next_run(where)
        raise AssertionError

    def end_at_every_call(self, step: int = 1) -> int:
        """End the process at each call; return at how many."""
        for done in count():
            self.reset()
            where = self.end(1 + done * step)
            if where is None:
                return done
            self.check_state(where, killed=True)
            self.check_next_run(where)
        raise AssertionError

    def fail(self, at: int, error: int) -> tuple[Call | None, str | None]:
        """Run with one call that fails; return it and the error that the user sees."""
        failing = Failing(at, error)
        try:
            with watching(self.folder, failing):
                self.scenario.run(self.folder)
        except (TongsaError, OSError) as told:  # of both, the command line prints one line
            return failing.failed, str(told)
        return failing.failed, None

    def end(self, at: int) -> str | None:
        """Run to a call that ends the process; return where that was."""
        ending = Ending(at)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # a process that ends closes no files
            try:
                with watching(self.folder, ending):
                    self.scenario.run(self.folder)
                return None
            except EndedError as end:
                where = f"killed at call {at}, {end}"
            for descriptor in list(locks._held):  # the system frees the locks of a process that has ended
                locks._close(descriptor)
            gc.collect(0)
        return where

    def check_state(self, where: str, *, killed: bool = False) -> None:
        """Every file with a final name is the earlier one or the new one, and can be used."""
        if self.scenario.sound:
            try:
                self.scenario.sound(self.folder)
            except TongsaError as error:
                raise AssertionError(f"{error}; {where}") from error
        now, together = self.lasting(), self.scenario.together
        for name, data in now.items() if not self.scenario.stages else ():
            assert data in (self.before.get(name), self.after.get(name)), f"{name} is neither old nor new; {where}"
        changed = [name for name in together if name in now and self.before.get(name) != self.after[name]]
        assert len({now[name] == self.after[name] for name in changed}) < 2, f"{changed} of different runs; {where}"
        for name in self.before:
            kept = name in now or name not in self.after or (killed and name in together)
            assert kept, f"{name} is lost; {where}"

    def check_next_run(self, where: str) -> None:
        try:
            self.do(self.scenario.again or self.scenario.run, self.folder)
        except TongsaError as error:
            raise AssertionError(f"the next run: {error}; {where}") from error
        assert self.lasting() == self.after, where
