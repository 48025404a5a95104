"""Services that tests share."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.running import Running, Start


@pytest.fixture(scope="session")
def translators(trained_translator: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Korean to English, and what passes for English to French: the same weights under another card."""
    folder = tmp_path_factory.mktemp("translators")
    first, second = folder / "ko-en", folder / "en-fr"
    for copy in (first, second):
        shutil.copytree(trained_translator, copy, ignore=shutil.ignore_patterns("checkpoints", "data"))
    card = json.loads((second / "translator.json").read_text(encoding="utf-8"))
    (second / "translator.json").write_text(json.dumps({**card, "source": "en", "target": "fr"}), encoding="utf-8")
    return first, second


@pytest.fixture
def start() -> Iterator[Start]:
    """Start services that end with the test."""
    begun: list[Running] = []

    def starting(*arguments: str | Path) -> Running:
        begun.append(Running(["--port", "0", *map(str, arguments)]))
        return begun[-1]

    yield starting
    for running in begun:
        running.stop()


@pytest.fixture(scope="session")
def service(translators: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One that most tests share."""
    data = tmp_path_factory.mktemp("data")
    running = Running(["--port", "0", *map(str, translators), "--data", str(data)])
    yield running
    assert running.stop() == 0
    assert running.events("no JSON") == []
