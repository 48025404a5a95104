"""Marked-up text over HTTP: whatever is in it, the answer comes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.in_process import asked, serving

from documents.fakes import Fake, FakeCard
from tongsa.server.work.marked import MarkedTexts, RequestTranslator, TextKind, elements, translate_marked


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


pieces = st.sampled_from(["<a>", "</a>", "<ab>", "</ab >", "<a x='1'>", "<a", ">", "</a", " ", "word", "\n", "</b>"])


@given(st.lists(pieces, max_size=14))
def test_elements_are_found_up_to_their_first_closing_tag(parts: list[str]) -> None:
    text = "".join(parts)
    expected = [each.span() for each in re.finditer(r"<(a|ab)(?:\s[^<>]*)?>.*?</\1\s*>", text, re.DOTALL)]
    assert list(elements(text, ("a", "ab"))) == expected


def test_elements_without_an_end_are_searched_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = []

    class Counted:
        def search(self, text: str, start: int) -> None:
            searches.append(start)

    real = re.compile
    monkeypatch.setattr(re, "compile", lambda pattern: Counted() if pattern.startswith("</") else real(pattern))
    assert list(elements("<a>" * 1_000, ("a", "b"))) == []
    assert searches == [3]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("text", "i saw {name} &amp; you", "I SAW {name} &amp; YOU"),
        ("text", "well \U0001f389 done", "WELL \U0001f389 DONE"),
        ("html", "i saw <b>{name}</b> &#39;here&#39;", "I SAW <b>{name}</b> &#39;HERE&#39;"),
        ("xml", 'i saw <x id="3"></x> you &quot;here&quot;', 'I SAW <x id="3"></x> YOU &quot;HERE&quot;'),
    ],
)
def test_a_text_whose_marks_the_model_loses_is_translated_whole(kind: TextKind, text: str, expected: str) -> None:
    """As in documents: the model sees the whole sentence without its marks, and its escapes as characters."""
    loses = Fake(lambda seen: " ".join(re.sub(r"\{.*?\}|\U0001f389", "", seen).upper().split()))
    translator = RequestTranslator(FakeCard(), loses.translate)
    (translated,) = translate_marked(MarkedTexts(texts=[text], kind=kind), [translator], 0)
    assert translated.text == expected
    assert not any(";" in seen for seen in loses.asked)
