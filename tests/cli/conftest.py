"""The command line as a user meets it, errors included."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from small_translators import random_translator
from tongsa.cli.main import main


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


class Tongsa:
    """Runs `tongsa ...` in this process, through the same door as the command does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys

    def __call__(self, *arguments: str | Path) -> Done:
        self._monkeypatch.setattr(sys, "argv", ["tongsa", *map(str, arguments)])
        self._capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = self._capsys.readouterr()
        return Done(code, captured.out, captured.err)

    def refuses(self, *arguments: str | Path) -> str:
        """What is said where the command cannot be done: exit code 2, no traceback, nothing on standard output."""
        done = self(*arguments)
        assert done.code == 2, done
        assert "Traceback" not in done.err
        assert done.out == ""
        return done.err


@pytest.fixture
def tongsa(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tongsa:
    for name, value in {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    return Tongsa(monkeypatch, capsys)


@pytest.fixture(scope="session")
def whole_translator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_translator(tmp_path_factory.mktemp("translator") / "ko-en")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """The prefix of a hundred small pairs."""
    draw = random.Random(1)
    words = ["".join(draw.choices("abdeiklmnorstu", k=draw.randint(2, 6))) for _ in range(100)]
    lines = [" ".join(draw.choices(words, k=draw.randint(3, 12))) for _ in range(100)]
    for language, side in (("en", lines), ("de", [line.upper() for line in lines])):
        (tmp_path / f"train.{language}").write_text("".join(line + "\n" for line in side), encoding="utf-8")
    return tmp_path / "train"
