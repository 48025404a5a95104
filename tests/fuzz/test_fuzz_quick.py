"""The quick part of fuzzing: every case that was ever found, and some random changes of valid inputs of every target.

`make fuzz MINUTES=10` looks longer and better.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutation import mutated
from targets import CORPUS, TARGETS, Target

from tongsa.formats.registry import FORMATS

EXAMPLES = 25


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_valid_inputs_and_found_cases_break_no_contract(target: Target) -> None:
    for data in target.seeds():
        target.run(data)
    for path in target.cases():
        target.run(path.read_bytes())


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_random_changes_break_no_contract(target: Target) -> None:
    seeds = [*target.seeds(), *(path.read_bytes() for path in target.cases())]

    @settings(max_examples=EXAMPLES, database=None)
    @given(st.randoms(use_true_random=False))
    def changes(draw: Random) -> None:
        target.run(mutated(seeds, target.tokens, draw))

    changes()


def test_every_format_is_a_target() -> None:
    for each in FORMATS.builtin.values():
        for function, kind in (("read_pairs", "read"), ("open_document", "document")):
            if function in each.functions and each.suffixes[0] != ".parquet":
                assert any(f"{kind}{suffix}" in TARGETS for suffix in (*each.suffixes, ".po", ".csv")), each


def test_found_cases_belong_to_a_target() -> None:
    assert {path.name for path in CORPUS.iterdir()} <= set(TARGETS)


def test_the_command_counts_executions_and_keeps_what_breaks(tmp_path: Path) -> None:
    """With a target that breaks: the finding is stored, counted and printed, and the command fails."""
    folder = Path(__file__).parent
    code = (
        "import runpy, sys, targets\n"
        "def broken(data):\n    if b'x' in data: raise KeyError('found')\n"
        "targets.TARGETS['read.tsv'] = targets.Target('read.tsv', broken, lambda: [b'a', b'x'])\n"
        "sys.argv = ['fuzz.py', 'read.tsv', '--child', '0.5', '--plain', '--findings', sys.argv[1]]\n"
        f"runpy.run_path({str(folder / 'fuzz.py')!r}, run_name='__main__')\n"
    )
    paths = [str(folder), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "KeyError" in done.stderr
    assert (tmp_path / "read.tsv.counts").read_text().endswith('"findings": 1}')
    assert [path.read_bytes() for path in tmp_path.glob("read.tsv.????????????")] == [b"x"]
