"""docs/extend/task.md, followed to the letter."""

from __future__ import annotations

import json
from pathlib import Path

from extend.following import follow


def test_a_task_is_one_file_and_one_entry_and_the_trainer_does_the_rest(tmp_path: Path) -> None:
    done = follow("task.md", tmp_path, "In Tongsa")
    assert len(done.new) == 1
    assert done.changed == {"src/tongsa/tasks/__init__.py": 2}  # the import and the entry
    assert done.printed.split() == ["ko", "en"]
    card = json.loads((tmp_path / "run" / "translator.json").read_text(encoding="utf-8"))
    assert (card["task"], card["training"]["updates"]) == ("language-identification", 60)
    assert card["scores"]["accuracy"]["score"] == 100.0
