"""`tongsa doctor`: this machine, or whether a directory is sound."""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from tests.cli.conftest import Tongsa

from tongsa.cli.doctor import EXTRAS, PACKAGES

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "translator-1"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN, tmp_path / "run"))


def test_the_machine_is_told_as_text_and_as_json(tongsa: Tongsa) -> None:
    text = tongsa("doctor")
    values = json.loads(tongsa("doctor", "--json").out)
    assert {"tongsa", "ctranslate2", "int8", "cache"} <= set(values)
    assert [line.split()[0] for line in text.out.splitlines()] == list(values)


def test_every_extra_for_users_is_known() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = {
        re.split(r"[^\w-]", package)[0]: extra
        for extra, packages in extras.items()
        for package in packages
        if extra not in ("dev", "fuzz")
    }
    assert wanted == EXTRAS
    assert {re.split(r"[^\w-]", package)[0] for package in project["dependencies"]} == set(PACKAGES)


def test_a_missing_extra_and_missing_fonts_are_told(tongsa: Tongsa, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "no-such-package", "serve")
    monkeypatch.setattr("tongsa.pages.attention_picture.fonts", lambda text: (["DejaVu Sans"], set(text)))
    values = json.loads(tongsa("doctor", "--json").out)
    assert values["no-such-package"] == "not installed:  pip install 'tongsa[serve]'"
    assert "fonts-noto-cjk" in values["hangul-fonts"]
    monkeypatch.setattr("tongsa.pages.attention_picture.fonts", lambda text: (["DejaVu Sans", "Noto Sans KR"], set()))
    assert json.loads(tongsa("doctor", "--json").out)["hangul-fonts"] == "Noto Sans KR"


def test_a_sound_directory_is_called_sound(tongsa: Tongsa, directory: Path) -> None:
    (directory / "ctranslate2" / "int8-0123456789ab").mkdir(parents=True)
    done = tongsa("doctor", directory)
    assert done.code == 0
    assert done.out.splitlines()[-1] == f"{directory} is sound"
    names = [line.split("  ")[0] for line in done.out.splitlines()[:-1]]
    assert names == ["files", "card", "checksums", "vocabulary", "model", "training", "old engines"]
    assert "an earlier version wrote the card" in done.out
    assert "is not used any more" in done.out


def test_each_check_that_fails_is_told_and_the_exit_code_is_1(tongsa: Tongsa, directory: Path) -> None:
    weights = (directory / "weights.safetensors").read_bytes()
    (directory / "weights.safetensors").write_bytes(weights[:-1])
    (directory / "link").symlink_to("/")
    done = tongsa("doctor", directory, "--json")
    assert done.code == 1
    values = json.loads(done.out)
    assert not values["sound"]
    failed = {check["name"]: check["text"] for check in values["checks"] if not check["sound"]}
    assert list(failed) == ["files", "model"]
    assert "link is a link out of the directory" in failed["files"]
    assert "weights.safetensors cannot be read" in failed["model"]


def test_without_a_card_the_rest_is_not_checked(tongsa: Tongsa, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "translator.json")
    done = tongsa("doctor", tmp_path)
    assert done.code == 1
    assert "translator.json is not a regular file" in done.out
    assert "weights" not in done.out
    assert done.out.splitlines()[-1] == f"{tmp_path} is not sound"


@pytest.mark.parametrize("option", ["--beam", "--nbest"])
def test_options_have_an_upper_limit_that_is_told(tongsa: Tongsa, directory: Path, option: str) -> None:
    done = tongsa("translate", directory, "text", option, "1000000")
    assert done.code == 2
    assert option in done.err
    assert re.search(r"\b1000\b", done.err)


def test_control_sequences_in_a_strangers_files_do_not_reach_the_terminal(tongsa: Tongsa, directory: Path) -> None:
    card = json.loads((directory / "translator.json").read_text(encoding="utf-8"))
    card["recipe"]["model"]["\x1b[2J"] = 1
    (directory / "translator.json").write_text(json.dumps(card), encoding="utf-8")
    done = tongsa("translate", directory, "text")
    assert done.code == 2
    assert r"unknown key model.\x1b[2J" in done.err
    assert "\x1b[2J" not in done.err + tongsa("doctor", directory).out
