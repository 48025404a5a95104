"""log.jsonl survives kills and tells each update once."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tongsa.base.errors import WriteError
from tongsa.runs.log import RunLog, read_log


def write(path: Path, *events: tuple[str, int]) -> None:
    log = RunLog(path)
    for event, update in events:
        log.write(event, update, update / 7, loss=0.5)
    log.close()


def test_every_line_is_an_object_with_event_update_and_seconds(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", ("start", 0), ("update", 1))
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert lines[1] == {"event": "update", "update": 1, "seconds": 0.143, "loss": 0.5}


def test_what_was_done_over_again_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write(path, ("start", 0), ("update", 1), ("update", 2), ("update", 3))
    write(path, ("resume", 1), ("update", 2), ("update", 3), ("update", 4))
    found = [(e["event"], e["update"]) for e in read_log(path)]
    assert found == [("start", 0), ("update", 1), ("resume", 1), ("update", 2), ("update", 3), ("update", 4)]


def test_a_line_cut_short_spoils_nothing_but_itself(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write(path, ("start", 0), ("update", 1))
    with path.open("a") as file:
        file.write('{"event": "upd')
    write(path, ("resume", 1), ("update", 2))
    assert [e["event"] for e in read_log(path)] == ["start", "update", "resume", "update"]


def test_what_is_not_finite_is_null_because_json_has_no_nan(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "log.jsonl")
    log.write("update", 1, 0.0, loss=math.nan, gradient_norm=math.inf)
    log.close()

    def refuse(name: str) -> float:
        raise AssertionError(f"{name} is no JSON")

    found = json.loads((tmp_path / "log.jsonl").read_text(), parse_constant=refuse)
    assert found["loss"] is None
    assert found["gradient_norm"] is None


def test_a_full_disk_is_told_with_the_name_of_the_log_and_what_to_do() -> None:
    log = RunLog(Path("/dev/full"))
    with pytest.raises(WriteError, match="/dev/full cannot be written: No space left on device") as caught:
        log.write("update", 1, 0.5)
    log.close()
    assert "free some space" in str(caught.value)
