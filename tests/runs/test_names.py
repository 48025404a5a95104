"""Names of translators: shipped, fetched, or a directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_translators import random_translator
from tongsa.base.cache import data_directory
from tongsa.base.errors import DirectoryError
from tongsa.runs import names
from tongsa.runs.directory import Run
from tongsa.runs.names import advice, fetched_directory, find_translator, known


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(names, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setenv("TONGSA_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return random_translator(tmp_path / "shipped" / "ko-en")


def test_a_name_is_that_of_a_shipped_translator(shipped: Path) -> None:
    assert find_translator("ko-en") == shipped
    assert find_translator(Path("ko-en")) == shipped


def test_a_directory_comes_before_a_name(shipped: Path) -> None:
    Path("ko-en").mkdir()
    assert find_translator("ko-en") == Path("ko-en")


def test_a_path_is_never_taken_for_a_name(shipped: Path) -> None:
    assert find_translator("./ko-en") == Path("./ko-en")
    assert find_translator("runs/ko-en") == Path("runs/ko-en")
    assert find_translator("..") == Path("..")


def test_what_the_user_fetched_hides_what_is_shipped(shipped: Path) -> None:
    mine = random_translator(fetched_directory() / "ko-en", seed=1)
    (fetched_directory() / "unfinished").mkdir()
    assert find_translator("ko-en") == mine
    assert known() == {"ko-en": mine}


def test_an_unknown_name_is_told_with_the_names_there_are_and_how_to_fetch_it(shipped: Path) -> None:
    with pytest.raises(DirectoryError, match=r"(?s)no such directory.*a name: ko-en.*tongsa get en-fr"):
        Run(find_translator("en-fr")).read_card()
    assert advice("runs/en-fr") == []
    assert not any("tongsa get" in line for line in advice("english"))


def test_the_directory_of_the_user_follows_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TONGSA_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert data_directory() == tmp_path / "tongsa"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert data_directory() == Path.home() / ".local" / "share" / "tongsa"
