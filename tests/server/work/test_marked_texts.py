"""Marked-up text over HTTP: whatever is in it, the answer comes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.in_process import asked, serving


@pytest.mark.parametrize("form", ["text", "html"])
def test_characters_that_no_text_should_have_are_answered(tmp_path: Path, form: str) -> None:
    with serving(tmp_path, "seconds=20") as client:
        answer = client.post("/translate", json=asked("i read \ufdd0 <b>books</b> here", format=form))
        assert answer.status_code == 200
        assert answer.json() == {"translatedText": "I READ \ufdd0 <b>BOOKS</b> HERE"}


@pytest.mark.parametrize("q", ["exhausted", "<b>exhausted</b> text", "with %s exhausted"])
def test_an_engine_that_stops_iterating_fails_its_request_and_does_not_hang(tmp_path: Path, q: str) -> None:
    """A StopIteration is taken by no future: whoever waits for it would wait forever."""
    with serving(tmp_path, "seconds=20") as client:
        assert client.post("/translate", json=asked(q, format="html" if "<" in q else "text")).status_code == 500
        assert client.post("/translate", json=asked("words")).json() == {"translatedText": "WORDS"}
