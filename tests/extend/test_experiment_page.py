"""docs/extend/experiment.md, followed to the letter."""

from __future__ import annotations

from pathlib import Path

from extend.following import follow


def test_an_experiment_is_one_file_and_one_entry(tmp_path: Path) -> None:
    done = follow("experiment.md", tmp_path, "In Tongsa")
    assert len(done.new) == 1
    assert done.changed == {"src/tongsa/lab/__init__.py": 2}  # the import and the entry
    assert "cosine of neighbours: 0.9" in done.printed


def test_a_package_outside_adds_an_experiment_with_nothing_of_tongsa_changed(tmp_path: Path) -> None:
    done = follow("experiment.md", tmp_path, "In a package of your own")
    assert (done.new, done.changed) == ([], {})
    assert len(done.outside) == 2
