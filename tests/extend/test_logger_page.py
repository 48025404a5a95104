"""docs/extend/logger.md, followed to the letter."""

from __future__ import annotations

from pathlib import Path

from extend.following import follow


def test_a_logger_is_one_class_and_one_entry_in_one_file(tmp_path: Path) -> None:
    done = follow("logger.md", tmp_path, "In Tongsa")
    assert done.new == []
    assert set(done.changed) == {"src/tongsa/runs/loggers.py"}
    assert done.printed == "10,update/loss,2.5\n"


def test_a_package_outside_adds_a_logger_with_nothing_of_tongsa_changed(tmp_path: Path) -> None:
    done = follow("logger.md", tmp_path, "In a package of your own")
    assert (done.new, done.changed, len(done.outside)) == ([], {}, 2)
    assert done.printed.strip() == "[(100, 'validation/bleu', 30.5)]"
