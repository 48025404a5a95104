"""docs/extend/schedule.md, followed to the letter."""

from __future__ import annotations

from pathlib import Path

from extend.following import follow


def test_a_schedule_is_one_function_and_one_entry_in_one_file(tmp_path: Path) -> None:
    done = follow("schedule.md", tmp_path, "In Tongsa")
    assert done.new == []
    assert set(done.changed) == {"src/tongsa/config/schedules.py"}
    assert float(done.printed) == 0.001


def test_a_package_outside_adds_a_schedule_with_nothing_of_tongsa_changed(tmp_path: Path) -> None:
    done = follow("schedule.md", tmp_path, "In a package of your own")
    assert (done.new, done.changed, len(done.outside)) == ([], {}, 2)
    assert done.printed.strip() == "[0.008, 0.002, 0.001]"
