"""The command that a report prints "to train it again" runs as printed, and gives the same weights."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path

import pytest
from tests.cli.conftest import Tongsa

from tongsa.runs.directory import Run

TINY = {
    "subwords.size": "300",
    "model.d_model": "16",
    "model.d_ff": "32",
    "model.heads": "2",
    "model.encoder_layers": "1",
    "model.decoder_layers": "1",
    "training.updates": "2",
    "training.batch_tokens": "256",
    "training.processes": "1",
}


def printed(directory: Path) -> list[str]:
    """The words of the command in a report."""
    page = Run(directory).report_file.read_text(encoding="utf-8")
    found = re.search(r'<pre class="command"><code>(.*?)</code>', page)
    assert found
    program, *words = shlex.split(html.unescape(found[1]))
    assert program == "tongsa"
    return words


def test_the_command_of_a_report_trains_it_again(
    tongsa: Tongsa, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = [f"--set={key}={value}" for key, value in TINY.items()]
    machine = ["--threads", "1", "--device", "cpu"]
    first = tongsa("train", "train", "--from=en", "--to=de", "--out=runs/my first", *settings, *machine, "--seed=3")
    assert first.code == 0, first.err
    again = tongsa(*printed(Path("runs/my first")))
    assert again.code == 0, again.err
    one, other = (Run(Path(f"runs/my first{ending}")) for ending in ("", "-again"))
    assert other.weights_file.read_bytes() == one.weights_file.read_bytes()
