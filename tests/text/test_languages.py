"""Codes of languages as people and files write them, and their names."""

from __future__ import annotations

import pytest

from tongsa.text.languages import language_name, matches, plain_code


@pytest.mark.parametrize(
    ("written", "plain"), [("EN-us", "en-us"), ("de_AT.UTF-8@euro", "de-at"), ("eng", "en"), (" ko ", "ko")]
)
def test_codes_are_understood_as_they_are_written(written: str, plain: str) -> None:
    assert plain_code(written) == plain


def test_a_region_matches_the_language_but_not_another_region() -> None:
    assert matches("en-GB", "en")
    assert matches("en", "en-US")
    assert not matches("en-GB", "en-US")
    assert not matches("end", "en")


@pytest.mark.parametrize(
    ("code", "name"),
    [("de", "German"), ("kor", "Korean"), ("de-AT", "German (AT)"), ("pt_BR", "Portuguese (BR)"), ("xx", "xx")],
)
def test_a_language_has_an_english_name_and_an_unknown_one_its_code(code: str, name: str) -> None:
    assert language_name(code) == name
