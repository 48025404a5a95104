"""log.jsonl: everything that happens in a training, one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class RunLog:
    """Appends events, each with the seconds since the start; a resumed training goes on in the same file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("a", encoding="utf-8")

    def write(self, event: str, update: int, seconds: float, **values: Any) -> None:  # events differ in what they tell
        entry = {"event": event, "update": update, "seconds": round(seconds, 3), **values}
        self._file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read_log(path: Path) -> Iterator[dict[str, Any]]:
    """The events of the training as it counts: what a resumed training did over again is told once.

    A line cut short by a kill is passed over.
    """
    events: list[dict[str, Any]] = []
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if event["event"] == "resume":
            events = [earlier for earlier in events if earlier["update"] <= event["update"]]
        events.append(event)
    yield from events
