"""JSON of programs: texts are translated, what programs read is not; keys can be chosen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import Fake, upper

from tongsa.base.errors import UsageError
from tongsa.cli.document import DocumentOptions, translate_files
from tongsa.documents import translate_document

WORDS = Fake(lambda text: " ".join(word.upper() for word in text.split()))


def translated(folder: Path, data: object, **chosen: tuple[str, ...]) -> object:
    (folder / "a.json").write_text(json.dumps(data, ensure_ascii=False))
    return json.loads(translate_document(WORDS, folder / "a.json", folder / "b.json", **chosen).target.read_text())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [
        "btn_submit_form",
        "#ff0000",
        "#fff",
        "rgba(0, 0, 0, 0.5)",
        "getUserName",
        "common.menu.title",
        "img/logo.png",
        "./styles/main.css",
        "/about/us",
        "text/html",
        "https://example.org/a?b=1",
        "1.2.3-beta",
        "2024-05-01",
        "en-US",
        "$t(common.more)",
        "{{count}}",
        "\U0001f389",
    ],
)
def test_what_programs_read_is_copied(value: str, tmp_path: Path) -> None:
    assert translated(tmp_path, {"a": value, "b": "some words"}) == {"a": value, "b": "SOME WORDS"}


@pytest.mark.parametrize("value", ["File", "Sign-up", "and/or", "e-mail", "Color", "Submit"])
def test_a_single_word_is_translated(value: str, tmp_path: Path) -> None:
    assert translated(tmp_path, {"label": value, "file": "File"}) == {"label": value.upper(), "file": "FILE"}


def test_a_value_under_a_key_of_programs_is_copied_where_it_is_no_word(tmp_path: Path) -> None:
    data = {"icon": "fa-user", "class": "btn-primary", "title": "well-known", "type": "Type"}
    assert translated(tmp_path, data) == {**data, "title": "WELL-KNOWN", "type": "TYPE"}


@pytest.mark.parametrize(
    "mark", ["$t(common.more)", "{{name}}", "{{- name}}", "{{value, number}}", "@:common.more", "\U0001f389", "#ff0000"]
)
def test_marks_in_a_text_are_kept(mark: str, tmp_path: Path) -> None:
    assert translated(tmp_path, [f"press {mark} now"]) == [f"PRESS {mark} NOW"]


DATA = {"title": "one thing", "menu": {"open": "two things", "note": "three"}, "list": [{"note": "four"}]}


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"keys": ("title",)}, {**DATA, "title": "ONE THING"}),
        ({"keys": ("menu.*",)}, {**DATA, "menu": {"open": "TWO THINGS", "note": "THREE"}}),
        ({"keys": ("menu",), "skip_keys": ("note",)}, {**DATA, "menu": {"open": "TWO THINGS", "note": "three"}}),
        ({"skip_keys": ("menu", "*.note")}, {**DATA, "title": "ONE THING"}),
    ],
)
def test_values_are_chosen_by_their_keys(chosen: dict[str, tuple[str, ...]], expected: object, tmp_path: Path) -> None:
    assert translated(tmp_path, DATA, **chosen) == expected


def test_a_key_that_no_text_has_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no text under the key titel"):
        translated(tmp_path, DATA, keys=("titel",))


def test_keys_are_given_on_the_command_line(tmp_path: Path) -> None:
    from tongsa.base.progress import Silent

    (tmp_path / "a.json").write_text(json.dumps(DATA))
    options = DocumentOptions(output=tmp_path / "b.json", keys="title, menu", skip_keys="note")
    translate_files(upper(), [tmp_path / "a.json"], options, Silent())
    found = json.loads((tmp_path / "b.json").read_text())
    assert found == {**DATA, "title": "ONE THING", "menu": {"open": "TWO THINGS", "note": "three"}}
