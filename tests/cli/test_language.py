"""Help and errors follow TONGSA_LANG or the locale; what has no Korean is printed in English."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import string
import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.cli.conftest import Tongsa

import tongsa as package
from tongsa.base.errors import UsageError
from tongsa.cli import language
from tongsa.cli.language import CATALOGUES, EXAMPLES, TITLES, VARIABLES, preferred_language, translated
from tongsa.cli.main import application

COMPOSED = ("Input should be", "No such command", "Missing ", "Usage")
HANGUL = re.compile("[가-힣]")


@pytest.fixture
def in_korean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONGSA_LANG", "ko")


def catalogue(name: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((CATALOGUES / f"{name}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "en"),
        ({"TONGSA_LANG": "ko"}, "ko"),
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LC_ALL": "ko_KR.UTF-8", "LANG": "en_US.UTF-8"}, "ko"),
        ({"LC_MESSAGES": "en_US.UTF-8", "LANG": "ko_KR.UTF-8"}, "en"),
        ({"TONGSA_LANG": "en", "LC_ALL": "ko_KR.UTF-8"}, "en"),
        ({"LC_ALL": "", "LANG": "ko"}, "ko"),
        ({"LANG": "kok_IN"}, "en"),
        ({"LANG": "C"}, "en"),
    ],
)
def test_the_language_is_that_of_the_variable_or_the_locale(
    variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert preferred_language() == expected


@pytest.mark.usefixtures("in_korean")
def test_a_terminal_that_cannot_print_hangul_gets_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    assert preferred_language() == "en"


def templates(folder: Path) -> set[str]:
    """Every string of the sources in a folder, with {} for what is filled in."""
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                found.add("".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values))  # type: ignore[misc]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(re.sub(r"\{\w*(!r)?\}", "{}", node.value))
    return found


def shown_help(command: Any) -> Iterator[str]:
    """The paragraphs of all help, and the titles of its panels."""
    for each in (command, *command.params):
        for text in (getattr(each, name, None) for name in ("help", "epilog", "rich_help_panel")):
            if isinstance(text, str):
                yield from (" ".join(part.split()) for part in cleandoc(text).split("\n\n"))
    for inner in getattr(command, "commands", {}).values():
        yield from shown_help(inner)


def test_every_english_text_of_the_catalogue_still_stands_in_the_source() -> None:
    source = templates(Path(package.__file__).parent)
    assert sorted(set(catalogue("errors")) - source) == []
    helps = set(shown_help(typer.main.get_command(application())))
    plain = {text for text in catalogue("help") if "{}" not in text}
    assert sorted(plain - helps - set(EXAMPLES)) == []
    for filled in set(catalogue("help")) - plain:
        assert any(re.fullmatch("(.*)".join(map(re.escape, filled.split("{}"))), text) for text in helps), filled


def test_every_text_of_other_packages_is_still_theirs() -> None:
    theirs = templates(Path(typer.__file__).parent) | {os.strerror(number) for number in range(1, 140)}
    composed = {"No such option: {} (Possible options: {})", "Option {} requires an argument."}
    composed |= {text for text in catalogue("others") if text.startswith(COMPOSED)}
    assert sorted(set(catalogue("others")) - theirs - composed) == []  # the composed ones are provoked below


@pytest.mark.parametrize("name", ["help", "errors", "others"])
def test_korean_texts_have_the_places_of_the_english_ones(name: str) -> None:
    for english, korean in catalogue(name).items():
        places = {place for _, place, _, _ in string.Formatter().parse(korean) if place is not None}
        assert places <= {str(number) for number in range(english.count("{}"))}, english
        assert len(places) == english.count("{}"), english


REFUSED = [
    (["trian"], "'trian': 그런 명령은 없습니다. 혹시 'train'?"),
    (["xyzzy"], "'xyzzy': 그런 명령은 없습니다."),
    (["train", "--xyzzy"], "그런 옵션은 없습니다: --xyzzy"),
    (["train", "--form", "en"], "그런 옵션은 없습니다: --form(비슷한 옵션: --from"),
    (["evaluate"], "인자가 없습니다: 'DIR'"),
    (["paper", "table1", "--out"], "옵션에는 값이 필요합니다"),
    (["lab", "run", "x"], "옵션이 없습니다: '--out'"),
    (["translate", "--beam", "0"], "'--beam'의 값이 잘못되었습니다: 1 이상이어야 합니다"),
    (["translate", "--beam", "9999"], "1000 이하여야 합니다"),
    (["translate", "--beam", "many"], "정수여야 합니다"),
    (["translate", "--top-p", "many"], "숫자여야 합니다"),
    (["translate", "nowhere", "text"], "오류: nowhere: 번역기가 아닙니다. translator.json 파일이 없습니다"),
    (["train", "nowhere", "--from", "en", "--to", "de", "--out", "out"], "오류: 말뭉치가 없습니다: nowhere"),
    (["resume", "."], "오류: .: 이어서 할 학습이 없습니다"),
]


@pytest.mark.usefixtures("in_korean")
@pytest.mark.parametrize(("arguments", "expected"), REFUSED, ids=[" ".join(arguments) for arguments, _ in REFUSED])
def test_common_errors_are_told_in_korean(
    arguments: list[str], expected: str, tongsa: Tongsa, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert expected in " ".join(tongsa.refuses(*arguments).replace("│", " ").split())


@pytest.mark.usefixtures("in_korean")
@pytest.mark.parametrize(
    ("english", "korean"),
    [
        ("unknown recipe: deom: did you mean demo?", "모르는 레시피: deom. 혹시 demo?"),
        ("unknown key model.heds: did you mean heads?", "모르는 키: model.heds. 혹시 heads?"),
        ("a.en has 29,000 lines, a.de has 28,997", "두 파일의 줄 수가 다릅니다: a.en 29,000줄, a.de 28,997줄"),
        ("a.md cannot be read: No such file or directory", "a.md: 읽을 수 없습니다. 그런 파일이나 디렉터리가 없습니다"),
        ("recipe auto cannot be used", "쓸 수 없습니다: 레시피 auto"),
        ("model.heads is 'x'; it must be a whole number", "model.heads: 쓸 수 없는 값입니다: 'x'. 필요한 값: 정수"),
        ("{x} is missing", "파일이 없습니다: {x}"),
    ],
)
def test_what_is_filled_in_is_kept_and_translated_where_it_is_known(english: str, korean: str) -> None:
    assert translated(english) == korean


@pytest.mark.usefixtures("in_korean")
def test_help_is_in_korean_and_loses_nothing_where_lines_are_broken(tongsa: Tongsa) -> None:
    for command in ([], ["train"], ["translate"], ["document"], ["serve"], ["evaluate"], ["corpus", "clean"]):
        done = tongsa(*command, "--help")
        assert done.code == 0
        assert "사용법: tongsa" in done.out
        assert "…" not in done.out
        lines = [line for line in done.out.splitlines() if re.search("[a-z]{3} [a-z]+ [a-z]+|[가-힣]", line)]
        assert len([line for line in lines if HANGUL.search(line)]) > 0.8 * len(lines)  # what is new may lack it
    assert "예: tongsa corpus clean data/train" in " ".join(tongsa("corpus", "clean", "--help").out.split())


def test_after_korean_english_is_english_again(tongsa: Tongsa, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer import rich_utils

    before = tongsa("train", "--help").out, [getattr(rich_utils, name) for name in TITLES]
    monkeypatch.setenv("TONGSA_LANG", "ko")
    assert HANGUL.search(tongsa("train", "--help").out)
    monkeypatch.setenv("TONGSA_LANG", "en")
    assert (tongsa("train", "--help").out, [getattr(rich_utils, name) for name in TITLES]) == before


@pytest.mark.parametrize("arguments", [["--version"], [], ["train"], ["doctor", "."], ["corpus"], ["lab", "xyzzy"]])
def test_exit_codes_are_the_same_in_both_languages(
    arguments: list[str], tongsa: Tongsa, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    english = tongsa(*arguments).code
    monkeypatch.setenv("TONGSA_LANG", "ko")
    assert tongsa(*arguments).code == english


@pytest.mark.usefixtures("in_korean")
def test_what_has_no_korean_is_printed_as_it_is() -> None:
    assert translated("no catalogue has this") == "no catalogue has this"
    error = UsageError("no catalogue has this", "Known: a\x1b[31m, b")
    assert error.printable(translated) == "no catalogue has this\n  쓸 수 있는 것: a\\x1b[31m, b"
    assert str(error) == "no catalogue has this\n  Known: a\x1b[31m, b"


@pytest.mark.usefixtures("in_korean")
def test_a_command_that_prints_no_help_does_not_read_the_catalogue(tongsa: Tongsa) -> None:
    language._catalogue.cache_clear()
    assert tongsa("--version").code == 0
    assert language._catalogue.cache_info().currsize == 0
