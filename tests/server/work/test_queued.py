"""Plain text through the queue comes out as through `tongsa.documents`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.in_process import Shouting
from tests.server.running import in_a_loop

from tongsa.documents.placeholders import is_plain
from tongsa.documents.translate import translate_segments
from tongsa.formats.segments import Segment
from tongsa.server.work.marked import LONGEST
from tongsa.server.work.queue import Queue
from tongsa.server.work.queued import QueuedTranslator, TextOptions
from tongsa.server.work.translators import TranslatorChain


def translated(texts: list[str], options: TextOptions | None = None, *translators: Shouting) -> list[Any]:
    async def inside() -> list[Any]:
        queued = QueuedTranslator(Queue(workers=1, capacity=0), threads=2)
        served: Any = translators or (Shouting(),)
        try:
            return await queued.texts(texts, TranslatorChain("en", "de", served, ()), options or TextOptions())
        finally:
            queued.close()
            queued.queue.close()

    return in_a_loop(inside())


def as_a_document(text: str) -> str:
    translator: Any = Shouting()
    return translate_segments([Segment(id="", content=(text,))], translator)[0].text


words = st.sampled_from(["one", "two.", "Three", "4", "lost", "found", "a<b", "5 %", "{x}", "%s", "<b>", "</b>"])
gaps = st.sampled_from([" ", "  ", "\n", ". ", "! ", "\n\n", "\t"])


@given(parts=st.lists(st.tuples(words, gaps), max_size=8), texts=st.integers(1, 2))
def test_the_queue_translates_as_documents_do(parts: list[tuple[str, str]], texts: int) -> None:
    text = "".join(word + gap for word, gap in parts)
    assert [each.text for each in translated([text] * texts)] == [as_a_document(text)] * texts


def test_text_with_marks_is_not_plain() -> None:
    assert is_plain("plain text")
    assert not is_plain("with %s in it")
    assert not is_plain("with <b>tags</b>")
    assert not is_plain("with \U000f0000 in it")


def test_no_piece_is_longer_than_an_engine_should_see() -> None:
    translator = Shouting()
    (found,) = translated(["x" * 5_000], None, translator)
    assert found.text == "X" * 5_000
    assert max(map(len, translator.encoded)) <= LONGEST


def test_a_text_may_be_kept_whole() -> None:
    translator = Shouting()
    translated(["One. Two."], TextOptions(whole=True), translator)
    assert translator.encoded == ["One. Two."]


def test_each_sentence_is_encoded_once_whatever_is_asked_for() -> None:
    translator = Shouting()
    (found,) = translated(["One two. Three!"], TextOptions(alternatives=2, confidence=True), translator)
    assert found.text == "ONE TWO. THREE!"
    assert translator.encoded == ["One two.", "Three!"]


def test_a_sentence_that_lost_something_is_not_encoded_again() -> None:
    """What is tried next is another text: the pieces around what must be kept."""
    translator = Shouting()
    (found,) = translated(["One two. Found here."], None, translator)
    assert found.text == as_a_document("One two. Found here.")
    assert translator.encoded.count("One two.") == translator.encoded.count("Found here.") == 1


def test_two_translators_one_after_the_other_are_two_translations() -> None:
    (found,) = translated(["good morning"], None, Shouting(), Shouting())
    assert found.text == "GOOD MORNING"
    assert found.confidence == pytest.approx(translated(["good morning"])[0].confidence ** 2)


def test_confidence_is_told_word_by_word() -> None:
    (found,) = translated(["good  morning. \n1 Two"], TextOptions(confidence=True))
    assert "".join(word.text for word in found.words) == found.text == "GOOD  MORNING. \n1 TWO"
    assert {word.text: word.confidence for word in found.words}["GOOD"] == pytest.approx(0.905)


def test_an_alternative_that_lost_something_is_replaced_by_the_best_translation() -> None:
    class Careless(Shouting):
        def _one(self, text: str, alignment: bool) -> Any:
            return super()._one(text, alignment)

        def translate_sentences(self, sentences: Any, options: Any) -> Any:
            from dataclasses import replace

            found = super().translate_sentences(sentences, options)
            broken = replace(found[0], text="100% <b>", alternatives=())
            return [replace(each, alternatives=(broken, *each.alternatives[1:])) for each in found]

    (found,) = translated(["good morning"], TextOptions(alternatives=2), Careless())
    assert found.text == "GOOD MORNING"
    assert found.alternatives == ("GOOD MORNING!!",)
