"""docs/extend/architecture.md, followed to the letter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from extend.following import ROOT, follow
from tongsa.runs.directory import Run


def test_an_architecture_is_one_file_and_one_line_and_is_trained(tmp_path: Path) -> None:
    done = follow("architecture.md", tmp_path, "In Tongsa")
    assert done.new == ["src/tongsa/models/bags.py"]
    assert done.changed == {"src/tongsa/config/architectures.py": 1}
    assert (tmp_path / "runs" / "bags" / "report.html").is_file()
    assert Run(tmp_path / "runs" / "bags").weights_file.is_file()

    assert_contract(tmp_path)


def assert_contract(tmp_path: Path) -> None:
    """The tests of every architecture hold for the new one without being told of it."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path / "src"), str(ROOT / "tests")]),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # quicker
    }
    tests = ROOT / "tests" / "models" / "test_every_architecture.py"
    command = [sys.executable, "-m", "pytest", str(tests), "-q", "-x", "-k", "bags", "-p", "no:cacheprovider"]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    assert " passed" in ran.stdout


def test_a_package_outside_adds_an_architecture_with_nothing_of_tongsa_changed(tmp_path: Path) -> None:
    done = follow("architecture.md", tmp_path, "In a package of your own")
    assert (done.new, done.changed) == ([], {})
    assert len(done.outside) == 2
    assert done.printed == "unordered-lstm is UnorderedLSTM\n"
