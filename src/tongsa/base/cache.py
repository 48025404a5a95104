"""A cache of this user: folders of files that were computed here, each found by a key of all that it was made from.

    ~/.cache/tongsa/engines/int8-0b7c.../    a folder; `sums.json` in it holds the checksums of its other files

It is where only this user writes, so nothing that came with a stranger's directory is ever taken for our own work. A
folder is renamed into place when it is complete and never changed, so several processes may create it at once. Its
files are compared with their checksums when it is used; a damaged folder is made again. The cache is bounded: when a
folder is added, those that have not been used for the longest time are removed.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tongsa.base.errors import DirectoryError
from tongsa.base.files import cannot_write
from tongsa.base.regular import checksum, open_regular, read_json

VARIABLE = "TONGSA_CACHE"
"""Environment variable that names another directory."""
DATA_VARIABLE = "TONGSA_DATA"
"""The same for what a user wants to keep."""

SUMS = "sums.json"

MOST_FOLDERS = 50
MOST_BYTES = 4 << 30
UNUSED = 3600.0
"""Seconds without use before a folder may be removed: another process may be loading it."""

TEMPORARY = ".new-"


class Found(NamedTuple):
    """A folder of the cache."""

    path: Path
    note: str = ""
    """Why it is not kept for the next process; empty if it is."""


def cache_directory() -> Path:
    """Return the directory of the cache: $TONGSA_CACHE, or `tongsa` in this system's place for caches."""
    if given := os.environ.get(VARIABLE):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "tongsa" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tongsa"
    given = os.environ.get("XDG_CACHE_HOME", "")
    # XDG: a relative path is invalid and must be ignored.
    return (Path(given) if Path(given).is_absolute() else Path.home() / ".cache") / "tongsa"


def data_directory() -> Path:
    """Return the directory of what this user keeps: $TONGSA_DATA, or `tongsa` in this system's place for data."""
    if given := os.environ.get(DATA_VARIABLE):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "tongsa" / "data"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "tongsa"
    given = os.environ.get("XDG_DATA_HOME", "")
    return (Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "share") / "tongsa"


class Cache:
    """The folders of one kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def get(self, key: str, write: Callable[[Path], None]) -> Found:
        """Return the folder of this key; if there is none, `write` creates its files in an empty folder."""
        try:
            root = self._root()
            folder = root / key
            if _is_whole(folder):
                with suppress(OSError):  # a cache that may only be read is used too
                    os.utime(folder)
                return Found(folder)
            self._add(root, folder, write)
            with suppress(OSError):  # another process is removing the same folders
                self._prune(root)
            return Found(folder)
        except OSError as error:
            return Found(_aside(write), f"{cache_directory()} cannot be written: {error.strerror or error}")
        except _UnsafeError as error:
            return Found(_aside(write), str(error))

    def _root(self) -> Path:
        """Create the directory; refuse one in which other users could place files."""
        try:
            root = cache_directory() / self.kind
        except RuntimeError as error:  # no home directory
            raise _UnsafeError(f"there is no place for a cache: {error}") from error
        for each in (root.parent, root):
            if not each.is_dir():
                each.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = each.stat()
            if hasattr(os, "getuid") and (status.st_uid not in (os.getuid(), 0) or status.st_mode & 0o022):
                raise _UnsafeError(
                    f"{each} is not used as a cache: it belongs to another user, or others may write to it (chmod go-w)"
                )
        return root

    def _add(self, root: Path, folder: Path, write: Callable[[Path], None]) -> None:
        temporary = Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=root))
        try:
            _write(temporary, write)
            if folder.is_dir() and not _is_whole(folder):  # damaged
                shutil.rmtree(folder)
            try:
                temporary.rename(folder)
            except OSError:
                if not _is_whole(folder):  # otherwise another process was faster
                    raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def _prune(self, root: Path) -> None:
        """Remove what was not used for the longest time, down to the bounds, and what killed processes left."""
        now, size = time.time(), 0
        newest_first = sorted(((_used(path), path) for path in root.iterdir()), reverse=True)
        for place, (used, path) in enumerate(newest_first):
            size += sum(file.stat().st_size for file in path.iterdir() if file.is_file()) if path.is_dir() else 0
            over = place >= MOST_FOLDERS or size > MOST_BYTES or path.name.startswith(TEMPORARY)
            if over and now - used > UNUSED:
                shutil.rmtree(path, ignore_errors=True)


class _UnsafeError(Exception):
    """The cache must not be used."""


def _used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # removed by another process
        return 0.0


def _write(folder: Path, write: Callable[[Path], None]) -> None:
    write(folder)
    sums = {}
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            sums[path.name] = checksum(file)
    (folder / SUMS).write_text(json.dumps(sums), encoding="utf-8")


def _is_whole(folder: Path) -> bool:
    """Return True if the folder has exactly the files that were written, with the same content."""
    try:
        sums = read_json(folder / SUMS)
        if {path.name for path in folder.iterdir()} != {*sums, SUMS}:
            return False
        for name, expected in sums.items():
            with open_regular(folder / name) as file:
                if checksum(file) != expected:
                    return False
    except (DirectoryError, OSError, TypeError):
        return False
    return True


def _aside(write: Callable[[Path], None]) -> Path:
    """Return a temporary folder, deleted when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="tongsa-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        _write(folder, write)
    except OSError as error:
        raise cannot_write(folder, error) from error
    return folder
