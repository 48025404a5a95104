"""What the lines of the registry say is so."""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path

import pytest

from tongsa.base.errors import UsageError
from tongsa.formats.pairs import Reading
from tongsa.formats.registry import ALIGNED, FORMATS, Format, find_format, suffixes_with
from tongsa.formats.writers import writing


@pytest.mark.parametrize("each", [*FORMATS.values(), ALIGNED], ids=[*FORMATS, "aligned"])
def test_a_format_has_the_functions_that_its_line_names(each: Format) -> None:
    assert each.functions
    for name in ("read_pairs", "write_pairs", "open_document"):
        assert callable(getattr(each, name)) == (name in each.functions)


def test_no_function_of_a_format_is_left_unsaid() -> None:
    for module in {each.module for each in FORMATS.values()}:
        named = {name for each in (*FORMATS.values(), ALIGNED) if each.module == module for name in each.functions}
        there = {
            name
            for name in ("read_pairs", "write_pairs", "open_document")
            if hasattr(importlib.import_module(module), name)
        }
        assert named == there


def test_a_suffix_belongs_to_one_format_and_is_found_in_any_case() -> None:
    counted = Counter(suffix for each in FORMATS.values() for suffix in each.suffixes)
    assert set(counted.values()) == {1}
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in counted)
    assert find_format(".TMX") is find_format(".tmx") is not None
    assert find_format(".exe") is find_format("") is None


def test_suffixes_are_listed_by_what_can_be_done_with_them() -> None:
    assert {".tsv", ".csv", ".jsonl", ".parquet", ".tmx", ".xliff", ".po", ".mo"} <= set(suffixes_with("read_pairs"))
    assert {".docx", ".odt", ".po", ".pot", ".srt", ".vtt", ".html", ".md", ".txt", ".json"} <= set(
        suffixes_with("open_document")
    )
    assert ".docx" not in suffixes_with("write_pairs")


@pytest.mark.parametrize("name", ["a.docx", "a.zip", "a.json", "a.txt"])
def test_pairs_are_not_written_into_what_is_no_corpus(tmp_path: Path, name: str) -> None:
    with (
        pytest.raises(UsageError, match=r"pairs cannot be written to .*: unknown kind of file"),
        writing(tmp_path / name, Reading(source="en", target="de"), Counter()),
    ):
        pass
