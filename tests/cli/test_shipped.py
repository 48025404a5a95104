"""Commands without a translator use the shipped one, and say so; a name works wherever a directory does."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Tongsa

import tongsa as package
from small_translators import random_translator
from tongsa.cli.translators import is_text
from tongsa.runs import names

SENTENCE = "나는 어제 도서관에 갔다."


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(names, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setenv("TONGSA_DATA", str(tmp_path / "data"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return random_translator(tmp_path / "shipped" / "ko-en")


def files_of(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_a_text_alone_is_translated_by_the_shipped_translator(tongsa: Tongsa, shipped: Path) -> None:
    before = files_of(shipped)
    alone, named = tongsa("translate", SENTENCE), tongsa("translate", "ko-en", SENTENCE)
    assert alone.code == named.code == 0, alone.err
    assert alone.out == named.out != ""
    assert alone.err.count("with the translator ko-en (shipped with Tongsa)") == 1
    assert "with the translator" not in named.err
    assert tongsa("translate", SENTENCE, "하나 둘").out.splitlines()[0] == alone.out.strip()
    assert files_of(shipped) == before  # nothing is written beside it: it may be in a directory that is read-only


def test_the_languages_choose_the_translator(tongsa: Tongsa, shipped: Path) -> None:
    assert tongsa("translate", "--from", "ko", "--to", "en", SENTENCE).code == 0
    assert "tongsa get en-ko" in tongsa.refuses("translate", "--from", "en", "--to", "ko", "Good morning.")
    assert "Leave one" in tongsa.refuses("translate", "ko-en", "--from", "ko", SENTENCE)
    random_translator(names.fetched_directory() / "other", seed=2)
    assert "several translators fit: ko-en, other" in tongsa.refuses("translate", "--to", "en", SENTENCE)


def test_a_single_word_is_not_guessed_to_be_a_text(tongsa: Tongsa, shipped: Path) -> None:
    said = tongsa.refuses("translate", "hello")
    assert "hello is not a translator" in said
    assert "tongsa translate DIR hello" in said
    assert "is not a translator" in tongsa.refuses("translate", "runs/missing", SENTENCE)


def test_the_name_of_a_file_is_not_translated(tongsa: Tongsa, shipped: Path) -> None:
    Path("news.ko").write_text(SENTENCE + "\n", encoding="utf-8")
    assert "tongsa translate --input news.ko" in tongsa.refuses("translate", "news.ko")
    assert "tongsa translate ko-en --input news.ko" in tongsa.refuses("translate", "ko-en", "news.ko").replace(
        str(shipped), "ko-en"
    )
    assert tongsa("translate", "ko-en", SENTENCE * 40).code == 0  # too long to be the name of a file


def test_without_any_translator_the_user_is_told(
    tongsa: Tongsa, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names, "SHIPPED", tmp_path / "nothing")
    assert "a translator must be named" in tongsa.refuses("translate", SENTENCE)
    assert "a translator must be named" in tongsa.refuses("serve")


def test_a_document_alone_is_translated_by_the_shipped_translator(tongsa: Tongsa, shipped: Path) -> None:
    Path("a.txt").write_text(SENTENCE + "\n", encoding="utf-8")
    done = tongsa("document", "a.txt")
    assert done.code == 0, done.err
    assert "with the translator ko-en" in done.err
    assert Path("a.en.txt").is_file()
    assert "no file to translate" in tongsa.refuses("document", "missing.txt")
    assert tongsa("document", "ko-en", "a.txt", "-o", "b.txt").code == 0
    assert Path("b.txt").read_text(encoding="utf-8") == Path("a.en.txt").read_text(encoding="utf-8")


def test_a_name_works_wherever_a_directory_does(tongsa: Tongsa, shipped: Path) -> None:
    assert tongsa("doctor", "ko-en").out.splitlines()[-1] == f"{shipped} is sound"
    assert tongsa("export", "ko-en", "small", "--format", "compact").code == 0
    assert package.load("ko-en", threads=1).translate([SENTENCE])[0].text
    assert package.load("small", threads=1).card.compact


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        ("Good morning.", True),
        ("Good morning", True),
        ("Hello!", True),
        ("and/or is a conjunction.", True),
        ("hello", False),
        ("runs/en-de", False),
        ("my runs/en-de", False),
        (".", False),
        ("en-fr", False),
        ("", False),
    ],
)
def test_what_is_a_text_and_what_a_translator(argument: str, text: bool) -> None:
    assert is_text(argument) is text
