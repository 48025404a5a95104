"""docs/extend/metric.md, followed to the letter."""

from __future__ import annotations

from pathlib import Path

from extend.following import follow


def test_a_metric_is_one_file_and_one_entry(tmp_path: Path) -> None:
    done = follow("metric.md", tmp_path, "In Tongsa")
    assert len(done.new) == 1
    assert done.changed == {"src/tongsa/evaluation/metrics.py": 2}  # the import and the entry
    assert "50.0" in done.printed


def test_a_package_outside_adds_a_metric_with_nothing_of_tongsa_changed(tmp_path: Path) -> None:
    done = follow("metric.md", tmp_path, "In a package of your own")
    assert done.new == []
    assert done.changed == {}
    assert len(done.outside) == 2
    assert "unknown metric" not in done.printed
