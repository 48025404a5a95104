"""Pairs as JSON, one object a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.base.errors import CorpusError
from tongsa.formats.json import read_pairs as read_jsonl
from tongsa.formats.pairs import Reading
from tongsa.text.lines import nfc

READING = Reading(source="en", target="de")


def pairs(folder: Path, content: str) -> list[tuple[str, str]]:
    path = folder / "pairs.jsonl"
    path.write_text(content, encoding="utf-8", newline="")
    return [(pair.source, pair.target) for pair in read_jsonl(path, READING)]


@pytest.mark.parametrize(
    "entry",
    [
        {"en": "one", "de": "eins", "id": 7},
        {"source": "one", "target": "eins"},
        {"translation": {"de": "eins", "en": "one"}},
    ],
)
def test_the_usual_shapes_are_read(tmp_path: Path, entry: dict[str, object]) -> None:
    assert pairs(tmp_path, json.dumps(entry) + "\n\n") == [("one", "eins")]


@given(st.text(st.characters(blacklist_categories=["Cs"])), st.text(st.characters(blacklist_categories=["Cs"])))
def test_any_text_comes_back_in_nfc(tmp_path_factory: pytest.TempPathFactory, source: str, target: str) -> None:
    for ascii_only in (True, False):
        line = json.dumps({"en": source, "de": target}, ensure_ascii=ascii_only)
        assert pairs(tmp_path_factory.mktemp("jsonl"), line) == [(nfc(source), nfc(target))]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "not JSON"),
        ("[1, 2]", "no texts"),
        ('{"en": "one"}', 'no texts under "en" and "de"'),
        ('{"en": "one", "de": null}', "no texts"),
        ('{"en": "one", "de": 3}', "no texts"),
        ("[" * 100_000, "nested too deeply"),
        ('{"en": ' + "9" * 5000 + "}", "no texts"),
        ('{"en": "\\ud83d", "de": "x"}', "surrogate"),
    ],
)
def test_what_is_no_pair_is_told_with_its_line(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(CorpusError, match=rf"pairs\.jsonl, line 2: .*{told}"):
        pairs(tmp_path, '{"en": "one", "de": "eins"}\n' + line + "\n")
