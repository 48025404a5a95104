"""Directions, pivot languages, and reloading of translators."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tongsa.base.errors import DirectoryError, UsageError
from tongsa.server.http.refusals import Refusal
from tongsa.server.work.translators import Translators


def fake(directory: Path) -> Any:
    """A translator whose directory's name is its direction."""
    if (directory / "broken").exists():
        raise DirectoryError(f"{directory} is broken")
    source, _, target = directory.name.partition("_")
    return SimpleNamespace(card=SimpleNamespace(source=source, target=target))


def served(folder: Path, *directions: str) -> Translators:
    paths = [folder / direction for direction in directions]
    for path in paths:
        path.mkdir(exist_ok=True)
        (path / "translator.json").write_text("{}")
    return Translators(paths, fake)


def test_a_direct_translator_is_preferred_to_a_way_through_another_language(tmp_path: Path) -> None:
    ours = served(tmp_path, "ko_en", "en_de", "ko_de")
    assert ours.chain("ko", "de").via == ()
    assert len(ours.chain("ko", "de").translators) == 1


def test_a_third_language_is_found_and_told(tmp_path: Path) -> None:
    ours = served(tmp_path, "ko_en", "en_de")
    chain = ours.chain("ko", "de")
    assert (chain.via, [each.card.source for each in chain.translators]) == (("en",), ["ko", "en"])
    assert ours.targets("ko") == ["en", "de"]
    assert ours.targets("de") == []


def test_no_more_than_one_language_lies_between(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="not available"):
        served(tmp_path, "ko_en", "en_de", "de_fr").chain("ko", "fr")


@pytest.mark.parametrize(("asked", "found"), [("EN", "en"), ("en-us", "en"), ("eng", "en"), ("pt-BR", "pt-br")])
def test_codes_are_understood_as_people_write_them(tmp_path: Path, asked: str, found: str) -> None:
    assert served(tmp_path, "en_pt-BR").code(asked) == found


def test_an_unknown_code_is_told_only_where_it_can_be_shown(tmp_path: Path) -> None:
    ours = served(tmp_path, "ko_en")
    with pytest.raises(Refusal, match=r"^zz is not supported"):
        ours.code("zz")
    with pytest.raises(Refusal, match=r"^this language is not supported"):
        ours.code("<script>" * 10)


def test_two_translators_of_one_direction_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(UsageError, match="both translate ko to en"):
        Translators([tmp_path / "ko_en", tmp_path / "a" / "ko_en"], fake)


def test_only_what_has_changed_is_opened_anew(tmp_path: Path) -> None:
    ours = served(tmp_path, "ko_en", "en_de")
    before = ours.chain("ko", "de").translators
    assert list(ours.reload()) == []
    (tmp_path / "ko_en" / "translator.json").write_text("{ }")
    assert [(path.name, error) for path, error in ours.reload()] == [("ko_en", None)]
    after = ours.chain("ko", "de").translators
    assert after[0] is not before[0]
    assert after[1] is before[1]
    assert len(list(ours.reload(all_of_them=True))) == 2


def test_a_directory_that_broke_leaves_the_old_translator_and_is_told_once(tmp_path: Path) -> None:
    ours = served(tmp_path, "ko_en")
    before = ours.chain("ko", "en").translators
    (tmp_path / "ko_en" / "broken").touch()
    (tmp_path / "ko_en" / "translator.json").write_text("{ }")
    assert [type(error) for _, error in ours.reload()] == [DirectoryError]
    assert list(ours.reload()) == []
    assert ours.chain("ko", "en").translators == before
    shutil.rmtree(tmp_path / "ko_en")
    assert ours.chain("ko", "en").translators == before
