"""docs/extend/endpoint.md, followed to the letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from extend.following import follow

pytest.importorskip("fastapi", reason="needs the server:  pip install 'tongsa[serve]'")


def test_an_http_interface_is_one_file_and_one_entry(tmp_path: Path) -> None:
    done = follow("endpoint.md", tmp_path, "In Tongsa")
    assert done.new == ["src/tongsa/server/api/google.py"]
    assert done.changed == {"src/tongsa/server/app.py": 2}  # the import and the entry
    translated, too_long, missing = done.printed.splitlines()
    assert translated == "{'data': {'translations': [{'translatedText': 'one'}, {'translatedText': 'two'}]}}"
    assert "'code': 400" in too_long
    assert "exceeds text limit (20)" in too_long
    assert missing == "Invalid request: missing q parameter"


def test_a_package_outside_adds_an_http_interface_with_nothing_of_tongsa_changed(tmp_path: Path) -> None:
    done = follow("endpoint.md", tmp_path, "In a package of your own")
    assert (done.new, done.changed) == ([], {})
    assert len(done.outside) == 2
    answered, refused = done.printed.splitlines()
    assert answered == "[['en', 'de']]"
    assert "more than 1 requests per minute" in refused
