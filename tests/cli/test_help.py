"""Help: as in the golden files, at once, and without torch.

After a change that is meant:  UPDATE_GOLDEN=1 python -m pytest tests/cli/test_help.py
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Tongsa

from tongsa import __version__
from tongsa.cli.main import COMMANDS

GOLDEN = Path(__file__).parents[1] / "golden" / "help"


@pytest.mark.parametrize("command", ["tongsa", *COMMANDS])
def test_help_is_the_golden_one(tongsa: Tongsa, command: str) -> None:
    done = tongsa(*([] if command == "tongsa" else [command]), "--help")
    found = "\n".join(line.rstrip() for line in done.out.strip().splitlines()) + "\n"
    golden = GOLDEN / f"{command}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(found, encoding="utf-8")
    assert done.code == 0
    assert found == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_an_example_of_itself(tongsa: Tongsa, command: str) -> None:
    shown = " ".join(tongsa(command, "--help").out.split())
    assert "Example" in shown
    assert f"tongsa {command}" in shown.split("Example", 1)[1]


def test_every_golden_file_belongs_to_a_command() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == {"tongsa", *COMMANDS}


def test_version_is_printed(tongsa: Tongsa) -> None:
    assert tongsa("--version").out == f"tongsa {__version__}\n"


def test_unknown_commands_and_options_are_refused(tongsa: Tongsa) -> None:
    assert "No such command" in tongsa.refuses("trian")
    assert "No such option" in tongsa.refuses("train", "--form", "en")


def test_python_m_tongsa_helps_at_once_and_without_torch() -> None:
    """CPU time, the best of several: a busy machine is no failure."""
    heavy = "('torch', 'numpy', 'sentencepiece', 'sacrebleu', 'safetensors')"
    code = "import sys, runpy; sys.argv = ['tongsa', '--help']\ntry: runpy.run_module('tongsa', run_name='__main__')\n"
    code += (
        f"except SystemExit as stop: assert not stop.code\nassert not [m for m in {heavy} if m in sys.modules], 'heavy'"
    )
    seconds = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode == 0, done.stderr
        assert "train" in done.stdout
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(seconds) < 0.3
