"""Better translations that clients suggest, as lines of JSON in a file of limited size."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

from tongsa.server.http.limits import Limits
from tongsa.server.http.logs import log_failure
from tongsa.server.http.refusals import Refusal


class Suggestions:
    """Kept in the data folder; without one, they are refused."""

    def __init__(self, data: Path | None, limits: Limits) -> None:
        self._file = data / "suggestions.jsonl" if data else None
        self._limits = limits
        self._lock = asyncio.Lock()

    @property
    def enabled(self) -> bool:
        return self._file is not None

    async def add(self, source: str, target: str, text: str, better: str) -> None:
        """Append a suggestion; refuse when the file is full, or cannot be written."""
        assert self._file, "handlers ask first whether suggestions are enabled"
        suggestion = {"q": text, "s": better, "source": source, "target": target}
        line = json.dumps(suggestion, ensure_ascii=False).encode() + b"\n"
        async with self._lock:
            await asyncio.to_thread(self._append, self._file, line)

    def _append(self, path: Path, line: bytes) -> None:
        try:
            with path.open("ab+") as file:
                size = file.seek(0, os.SEEK_END)
                if not self._limits.allows("suggestions", size + len(line)):
                    raise Refusal(456, "Quota exceeded: the service keeps no more suggestions")
                if size:
                    file.seek(-1, os.SEEK_END)
                    if file.read(1) != b"\n":  # a line that was cut by a full disk or a kill
                        line = b"\n" + line
                file.write(line)
        except OSError as error:
            log_failure("suggestion not written", error, {"why": error.strerror})
            raise Refusal(503, "The suggestion cannot be stored", retry_after=60) from error
