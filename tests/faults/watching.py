"""Watch every call that changes files below a folder: let one fail, end the process there, or record them all.

Python's own calls are watched: os, io and everything built on them (pathlib, shutil, gzip, tempfile). Libraries that
write by themselves are covered by the sweep with a preloaded library (tests/faults/sweep.py).
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

_open, _os_open, _read_link = io.open, os.open, os.readlink


@dataclass(frozen=True)
class Call:
    """A call that is about to be made, or was made."""

    kind: str
    """open, write, truncate, fsync, rename, unlink, mkdir, rmdir, link or chmod."""
    path: Path
    target: Path | None = None
    """New name, for a rename."""
    size: int = 0
    """Bytes to write."""


@dataclass
class Watcher:
    """What is done before and after each call; `before` may raise, or end the process."""

    before: Callable[[Call], None] = lambda call: None
    after: Callable[[Call], None] = lambda call: None


@contextmanager
def watching(root: Path, watcher: Watcher) -> Iterator[None]:
    """Call the watcher for each call on a path below `root`."""
    root = root.resolve()
    here = threading.local()

    def tell(listen: Callable[[Call], None], call: Call) -> None:
        here.busy = True  # what the watcher itself does is not watched
        try:
            listen(call)
        finally:
            here.busy = False

    def watched(path: Any, folder: int | None = None) -> Path | None:
        if getattr(here, "busy", False):
            return None
        if isinstance(path, int):
            place = _of_descriptor(path)
        else:
            place = Path(os.fsdecode(path))
            if not place.is_absolute():
                place = (_of_descriptor(folder) if folder is not None else Path.cwd()) / place
        return place if place.is_relative_to(root) else None

    def wrapped(kind: str, function: Callable[..., Any], *, two: bool = False) -> Callable[..., Any]:
        def call(path: Any, *more: Any, **keywords: Any) -> Any:
            place = watched(path, keywords.get("dir_fd", keywords.get("src_dir_fd")))
            if place is None:
                return function(path, *more, **keywords)
            target = watched(more[0], keywords.get("dst_dir_fd")) if two else None
            made = Call(kind, place, target)
            tell(watcher.before, made)
            result = function(path, *more, **keywords)
            tell(watcher.after, made)
            return result

        return call

    class File(io.FileIO):
        """A file whose writes are watched; of a write that fails, half has reached the disk."""

        def write(self, data: Any) -> int:
            place = watched(self.fileno())
            if place is None:
                return super().write(data)
            call = Call("write", place, size=len(memoryview(data).cast("B")))
            if isinstance(watcher, Ending) and watcher.ended:  # a buffer that is closed on the way out
                return call.size
            try:
                tell(watcher.before, call)
            except OSError as error:
                if error.errno != errno.EINTR:  # an interrupted call has written nothing, and is tried again
                    super().write(memoryview(data).cast("B")[: call.size // 2])
                    tell(watcher.after, call)
                raise
            written = super().write(data)
            tell(watcher.after, call)
            return written

        def truncate(self, size: int | None = None) -> int:
            place = watched(self.fileno())
            if place is None:
                return super().truncate(size)
            tell(watcher.before, Call("truncate", place))
            cut = super().truncate(size)
            tell(watcher.after, Call("truncate", place))
            return cut

    def opened(
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        place = watched(file)
        if place is None:
            return _open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        call = Call("open", place)
        tell(watcher.before, call)
        raw = File(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        tell(watcher.after, call)
        if buffering == 0:
            return raw
        kind: Any = io.BufferedRandom if "+" in mode else (io.BufferedReader if raw.readable() else io.BufferedWriter)
        buffer = kind(raw)
        if "b" in mode:
            return buffer
        text = io.TextIOWrapper(buffer, encoding, errors, newline, line_buffering=buffering == 1)
        text.mode = mode  # type: ignore[misc]
        return text

    changes = {name: wrapped(name, getattr(os, name)) for name in ("open", "unlink", "rmdir", "mkdir", "chmod")}
    changes |= {"remove": wrapped("unlink", os.remove), "fsync": wrapped("fsync", lambda number: None)}  # it is slow
    changes |= {name: wrapped("rename", getattr(os, name), two=True) for name in ("rename", "replace")}
    changes |= {name: wrapped("link", getattr(os, name)) for name in ("link", "symlink")}
    with ExitStack() as stack:
        for name, function in changes.items():
            stack.enter_context(patch.object(os, name, function))
        for module in (io, builtins):
            stack.enter_context(patch.object(module, "open", opened))
        yield


def _of_descriptor(number: int) -> Path:
    return Path(_read_link(f"/proc/self/fd/{number}").removesuffix(" (deleted)"))


class Failing(Watcher):
    """Let the call number `at` fail with an error; all calls are counted from 1."""

    def __init__(self, at: int, error: int) -> None:
        super().__init__(self._fail)
        self.at, self.error = at, error
        self.count = 0
        self.failed: Call | None = None

    def _fail(self, call: Call) -> None:
        self.count += 1
        if self.count == self.at:
            self.failed = call
            raise OSError(self.error, os.strerror(self.error), str(call.path))


class EndedError(BaseException):
    """The process has ended: nothing catches this, and no call that follows has an effect."""


class Ending(Watcher):
    """End the process at the call number `at`, as SIGKILL does: what is cleaned up afterwards reaches no file."""

    def __init__(self, at: int) -> None:
        super().__init__(self._end)
        self.at = at
        self.count = 0

    @property
    def ended(self) -> bool:
        return self.count >= self.at

    def _end(self, call: Call) -> None:
        self.count += 1
        if self.ended:
            raise EndedError(call)


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}
