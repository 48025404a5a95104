"""Help: as in the golden files, at once, and without torch.

After a change that is meant:  UPDATE_GOLDEN=1 python -m pytest tests/cli/test_help.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Tongsa

from tongsa import __version__
from tongsa.cli.main import COMMANDS, GROUPS, OLD, load

GOLDEN = Path(__file__).parents[1] / "golden" / "help"
SCREEN = 60
"""Lines, at a hundred columns."""


def every_command() -> list[str]:
    """`train`, ..., `corpus`, `corpus report`, ...: also those of groups, without old spellings."""
    inner = [f"{name} {each.name}" for name in GROUPS for each in load(f"{name}:app").registered_commands]
    return [*COMMANDS, *GROUPS, *inner]


def golden(command: str) -> Path:
    return GOLDEN / f"{command.replace(' ', '-')}.txt"


@pytest.mark.parametrize("command", ["tongsa", *every_command()])
def test_help_is_the_golden_one(tongsa: Tongsa, command: str) -> None:
    done = tongsa(*([] if command == "tongsa" else command.split()), "--help")
    found = "\n".join(line.rstrip() for line in done.out.strip().splitlines()) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        golden(command).parent.mkdir(exist_ok=True)
        golden(command).write_text(found, encoding="utf-8")
    assert done.code == 0
    assert found == golden(command).read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [name for name in every_command() if name not in GROUPS])
def test_every_command_shows_an_example_of_itself(tongsa: Tongsa, command: str) -> None:
    shown = " ".join(tongsa(*command.split(), "--help").out.split())
    assert "Example" in shown
    assert f"tongsa {command}" in shown.split("Example", 1)[1]


@pytest.mark.parametrize("command", every_command())
def test_help_fits_on_a_screen(tongsa: Tongsa, command: str) -> None:
    assert len(tongsa(*command.split(), "--help").out.splitlines()) <= SCREEN


def test_every_golden_file_belongs_to_a_command() -> None:
    assert set(GOLDEN.iterdir()) == {golden(command) for command in ["tongsa", *every_command()]}


@pytest.mark.parametrize("name", OLD)
def test_old_names_of_the_experiments_still_work_and_name_the_new_one(tongsa: Tongsa, name: str) -> None:
    assert tongsa(name, "--help").code == 0
    assert name not in {line.split()[1] for line in tongsa("--help").out.splitlines() if line.startswith("│")}


def test_version_is_printed(tongsa: Tongsa) -> None:
    assert tongsa("--version").out == f"tongsa {__version__}\n"


def test_unknown_commands_and_options_are_refused(tongsa: Tongsa) -> None:
    assert "No such command" in tongsa.refuses("trian")
    assert "No such option" in tongsa.refuses("train", "--form", "en")


def test_help_imports_nothing_heavy() -> None:
    heavy = "('torch', 'numpy', 'sentencepiece', 'sacrebleu', 'safetensors', 'lxml', 'ctranslate2')"
    code = "import sys, runpy; sys.argv = ['tongsa', '--help']\ntry: runpy.run_module('tongsa', run_name='__main__')\n"
    code += (
        f"except SystemExit as stop: assert not stop.code\nassert not [m for m in {heavy} if m in sys.modules], 'heavy'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "train" in done.stdout
