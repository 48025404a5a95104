"""Translated files, kept for download under random names for a limited time."""

from __future__ import annotations

import asyncio
import re
import secrets
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tongsa.server.http.logs import log_failure
from tongsa.server.http.refusals import Refusal

_NAME = re.compile(r"[A-Za-z0-9_-]{32}\.[a-z]{2,8}")
MOST_BYTES = 1 << 30
"""Maximum total size of all files; the oldest are removed to make room."""


@dataclass(frozen=True)
class StoredFile:
    path: Path
    size: int
    until: float


class Files:
    """A folder that only this user can read, deleted when the service stops."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.folder = Path(tempfile.mkdtemp(prefix="tongsa-files-"))
        self._stored: dict[str, StoredFile] = {}

    async def store(self, data: bytes, suffix: str) -> str:
        """Store a file and return the name to download it by."""
        self.sweep()
        while self._stored and sum(stored.size for stored in self._stored.values()) + len(data) > MOST_BYTES:
            self._remove(next(iter(self._stored)))
        name = secrets.token_urlsafe(24) + suffix
        path = self.folder / name
        try:
            await asyncio.to_thread(path.write_bytes, data)
        except OSError as error:
            _delete(path)
            log_failure("translated file not stored", error, {"why": error.strerror})
            raise Refusal(503, "There is no room for the translated file", retry_after=60) from error
        self._stored[name] = StoredFile(path, len(data), time.monotonic() + self.seconds)
        return name

    def find(self, name: str) -> Path:
        """The file of a name; only issued names are looked up, so that no name leads out of the folder."""
        self.sweep()
        stored = self._stored.get(name) if _NAME.fullmatch(name) else None
        if stored is None:
            raise Refusal(404, "There is no such file, or its time is over")
        return stored.path

    def sweep(self) -> None:
        """Delete the files whose time is over."""
        now = time.monotonic()
        for name in [name for name, stored in self._stored.items() if stored.until < now]:
            self._remove(name)

    def _remove(self, name: str) -> None:
        _delete(self._stored.pop(name).path)

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _delete(path: Path) -> None:
    """Delete a file, if possible: on Windows, one that is being downloaded goes with the folder."""
    with suppress(OSError):
        path.unlink()
