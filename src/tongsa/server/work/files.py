"""Translated files that wait to be fetched: under random names, for a while."""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tongsa.server.http.refusals import Refusal

_NAME = re.compile(r"[A-Za-z0-9_-]{32}\.[a-z]{2,8}")
MOST_BYTES = 1 << 30
"""Of all files together; the oldest make room."""


@dataclass(frozen=True)
class Kept:
    path: Path
    size: int
    until: float


class Files:
    """A folder that nobody else can read, gone with the service."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.folder = Path(tempfile.mkdtemp(prefix="tongsa-files-"))
        self._kept: dict[str, Kept] = {}

    def keep(self, data: bytes, suffix: str) -> str:
        """The name to fetch it by."""
        self.sweep()
        while self._kept and sum(kept.size for kept in self._kept.values()) + len(data) > MOST_BYTES:
            self._remove(next(iter(self._kept)))
        name = secrets.token_urlsafe(24) + suffix
        path = self.folder / name
        path.write_bytes(data)
        self._kept[name] = Kept(path, len(data), time.monotonic() + self.seconds)
        return name

    def find(self, name: str) -> bytes:
        """Only names that were given out are looked for, so no name leads out of the folder."""
        self.sweep()
        kept = self._kept.get(name) if _NAME.fullmatch(name) else None
        if kept is None:
            raise Refusal(404, "There is no such file, or its time is over")
        return kept.path.read_bytes()

    def sweep(self) -> None:
        now = time.monotonic()
        for name in [name for name, kept in self._kept.items() if kept.until < now]:
            self._remove(name)

    def _remove(self, name: str) -> None:
        self._kept.pop(name).path.unlink(missing_ok=True)

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
