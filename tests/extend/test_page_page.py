"""docs/extend/page.md, followed to the letter."""

from __future__ import annotations

from pathlib import Path

from extend.following import follow


def test_a_part_of_a_report_is_one_file_and_one_entry(tmp_path: Path) -> None:
    done = follow("page.md", tmp_path, "In Tongsa")
    assert len(done.new) == 1
    assert done.changed == {"src/tongsa/pages/translation.py": 2}  # the import and the entry
    assert int(done.printed) > 5000
