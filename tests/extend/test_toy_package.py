"""A package outside adds an architecture, a metric and a file format at once; nothing of Tongsa is changed."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from extend.following import ROOT, _as_if_installed
from tongsa.demo.grammar import corpus

PROJECT = """
[project]
name = "toy-nmt"
version = "1.0"

[project.entry-points."tongsa.architectures"]
toy-gru = "toy_nmt:ToyGRU"

[project.entry-points."tongsa.metrics"]
toy-length = "toy_nmt:LENGTH"

[project.entry-points."tongsa.formats"]
toy = "toy_nmt:TOY"
"""

PACKAGE = '''
from dataclasses import dataclass
from typing import Literal

from tongsa.evaluation.contracts import TextMetric
from tongsa.formats.pairs import Pair, Place
from tongsa.formats.registry import Format
from tongsa.models.recurrent import Recurrent, RecurrentSection
from tongsa.text.lines import read_lines


@dataclass(frozen=True, kw_only=True)
class ToySection(RecurrentSection):
    """A GRU under another name."""

    architecture: Literal["toy-gru"] = "toy-gru"

    @property
    def cell(self):
        return "gru"


class ToyGRU(Recurrent):
    section = ToySection


class Length(TextMetric):
    name = "toy-length"
    title = "length error"
    unit = "difference in words"
    higher_is_better = False

    def sentence(self, hypothesis, reference, *, language, source=""):
        return abs(len(hypothesis.split()) - len(reference.split()))


LENGTH = Length()
TOY = Format((".toy",), "toy_nmt", ("read_pairs",))


def read_pairs(path, reading):
    for number, line in enumerate(read_lines(path, reading.encoding), 1):
        source, _, target = line.partition(" => ")
        yield Pair(source, target, Place(path, number))
'''

SETTINGS = {
    "model.architecture": "toy-gru",
    "model.d_model": "16",
    "subwords.size": "600",
    "training.updates": "3",
    "training.batch_tokens": "500",
    "training.processes": "1",
    "training.peak": "0.01",
    "training.schedule": "constant",
    "training.select": "toy-length",
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    package = tmp_path / "toy"
    package.mkdir()
    (package / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (package / "toy_nmt.py").write_text(PACKAGE, encoding="utf-8")
    places = [str(ROOT / "src"), *_as_if_installed(package)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def digest(folder: Path) -> str:
    found = hashlib.blake2b()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            found.update(path.read_bytes())
    return found.hexdigest()


def test_a_package_outside_adds_an_architecture_a_metric_and_a_format(
    environment: dict[str, str], tmp_path: Path
) -> None:
    before = digest(ROOT / "src")

    def tongsa(*arguments: str) -> str:
        command = [sys.executable, "-m", "tongsa", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    for name, part in zip(("train", "test", "unused"), corpus(120, 20, 0, seed=1), strict=True):
        lines = "".join(f"{korean} => {english}\n" for korean, english in part)
        (tmp_path / f"{name}.toy").write_text(lines, encoding="utf-8")
    settings = [each for key, value in SETTINGS.items() for each in ("--set", f"{key}={value}")]
    tongsa("train", "train.toy", "--from=ko", "--to=en", "--out=run", "--recipe=tiny", "--threads=1", *settings)
    card = json.loads((tmp_path / "run" / "translator.json").read_text(encoding="utf-8"))
    assert card["recipe"]["model"]["architecture"] == "toy-gru"
    assert "toy-length" in card["scores"]
    scores = json.loads(tongsa("evaluate", "run", "test.toy", "--metric", "bleu,toy-length", "--json"))
    assert scores.keys() == {"bleu", "toy-length"}
    assert digest(ROOT / "src") == before
