"""The log of a training: one JSON object per event and line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tongsa.base.files import cannot_write


class RunLog:
    """Appends events with the seconds since the start; a resumed training appends to the same file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            cut_short = path.is_file() and path.read_bytes()[-1:] not in (b"", b"\n")
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise cannot_write(path, error) from error
        if cut_short:  # after a kill or a full disk, do not append the next event to half a line
            self._file.write("\n")

    def write(self, event: str, update: int, seconds: float, **values: Any) -> None:  # keys differ by kind
        entry = {"event": event, "update": update, "seconds": round(seconds, 3), **values}
        # JSON has no NaN: numbers that are not finite become null.
        known = {key: None if isinstance(v, float) and not math.isfinite(v) else v for key, v in entry.items()}
        try:
            self._file.write(json.dumps(known, ensure_ascii=False, allow_nan=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def close(self) -> None:
        with suppress(OSError):  # `write` has raised it
            self._file.close()


def read_log(path: Path) -> Iterator[dict[str, Any]]:
    """Read the events of a training. Updates that were repeated after a kill appear once.

    Incomplete lines and lines that are not events are skipped.
    """
    events: list[dict[str, Any]] = []
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if not isinstance(event, dict) or not {"event", "update"} <= event.keys():
            continue
        if event["event"] == "resume":
            events = [earlier for earlier in events if earlier["update"] <= event["update"]]
        events.append(event)
    yield from events
