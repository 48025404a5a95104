"""A translator in a forked process: it translates as in its parent, and nobody waits for threads that do not exist."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from small_translators import random_translator, sentences

PROGRAM = """
import os, sys
from tongsa.translation.translator import Translator

directory, *texts = sys.argv[1:]
translators = [
    Translator.load(directory, engine=engine, precision="float32", threads=2) for engine in ("ctranslate2", "native")
]

def translated():
    return [each.text for translator in translators for each in translator.translate(iter(texts))]

before = translated()
assert len(before) == 2 * len(texts)
for translates in (True, False):
    child = os.fork()
    if child == 0:
        sys.exit(translates and translated() != before)
    assert os.waitpid(child, 0)[1] == 0
assert translated() == before
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows cannot fork")
def test_a_forked_process_translates_and_ends(tmp_path: Path) -> None:
    directory = random_translator(tmp_path / "translator")
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(directory), *(source for source, _ in sentences(3))]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert ran.returncode == 0, ran.stderr
