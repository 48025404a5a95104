"""Plain text through the quick path comes out as through the documents' engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.running import in_a_loop

from tongsa.documents.engine import translate_segments
from tongsa.formats.segments import Segment
from tongsa.server.work.cutting import LONGEST, cut
from tongsa.server.work.queue import Queue
from tongsa.server.work.queued import QueuedTranslator, TranslateOptions
from tongsa.server.work.translators import TranslatorChain
from tongsa.server.work.trust import evenly, words_of
from tongsa.translation.translator import Translation


@dataclass(eq=False)
class Shouting:
    """A translator whose other language is upper case; some words break it."""

    source: str = "en"
    target: str = "de"

    def __post_init__(self) -> None:
        self.card = SimpleNamespace(source=self.source, target=self.target, confidence=())
        vocabulary = SimpleNamespace(encode=str.split, pieces=lambda words: ["▁" + word for word in words])
        self.subwords = SimpleNamespace(source=vocabulary, target=vocabulary)
        self.search = replace(Search(), nbest=1)

    def translate(self, texts: Sequence[str], search: Any = None, *, alignment: bool = False) -> list[Translation]:
        return [self._one(text, alignment) for text in texts]

    def _one(self, text: str, alignment: bool) -> Translation:
        new = text.upper().replace("LOST", "").replace("FOUND", "100%")
        tokens = tuple("▁" + word for word in new.split())
        return Translation(
            text=new,
            log_probability=-0.1 * (len(tokens) + 1),
            source_tokens=tuple("▁" + word for word in text.split()),
            tokens=tokens,
            alignment=tuple((i, i) for i in range(len(tokens))) if alignment else (),
        )

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[list[float]]:
        return [[-0.1] * (len(target.split()) + 1) for target in targets]


@dataclass(frozen=True)
class Search:
    nbest: int = 1


def said(texts: list[str], options: TranslateOptions | None = None, *, hops: int = 1) -> list[Any]:
    async def inside() -> list[Any]:
        translator = QueuedTranslator(Queue(workers=1, capacity=0), threads=2)
        translators: Any = tuple(Shouting() for _ in range(hops))
        try:
            return await translator.texts(
                texts, TranslatorChain("en", "de", translators, ()), options or TranslateOptions()
            )
        finally:
            translator.close()
            translator.queue.close()

    return in_a_loop(inside())


def slowly(text: str) -> str:
    translator: Any = Shouting()
    return translate_segments([Segment(id="", content=(text,))], translator)[0].text


words = st.sampled_from(["one", "two.", "Three", "4", "lost", "found", "a<b", "5 %", "{x}", "%s", "<b>", "</b>"])
gaps = st.sampled_from([" ", "  ", "\n", ". ", "! ", "\n\n", "\t"])


@given(parts=st.lists(st.tuples(words, gaps), max_size=8), texts=st.integers(1, 2))
def test_the_quick_path_says_what_the_engine_says(parts: list[tuple[str, str]], texts: int) -> None:
    text = "".join(word + gap for word, gap in parts)
    assert [each.text for each in said([text] * texts)] == [slowly(text)] * texts


def test_text_with_marks_is_left_to_the_engine() -> None:
    assert cut("plain text", "en") is not None
    assert cut("with %s in it", "en") is None
    assert cut("with <b>tags</b>", "en") is None


def test_no_piece_is_longer_than_an_engine_should_see() -> None:
    parts = cut("x" * 5_000, "en")
    assert parts is not None
    assert max(len(part.sentence) for part in parts) <= LONGEST
    assert said(["x" * 5_000])[0].text == "X" * 5_000


def test_a_text_may_be_kept_whole() -> None:
    assert [part.sentence for part in cut("One. Two.", "en", whole=True) or []] == ["One. Two."]
    assert len(cut("One. Two.", "en") or []) == 2


def test_two_hops_are_two_translations() -> None:
    (found,) = said(["good morning"], hops=2)
    assert found.text == "GOOD MORNING"
    assert found.trust.score == pytest.approx(said(["good morning"])[0].trust.score ** 2)


def test_trust_is_told_word_by_word() -> None:
    (found,) = said(["good  morning. \n1 Two"], TranslateOptions(trust=True))
    assert "".join(word.text for word in found.trust.words) == found.text == "GOOD  MORNING. \n1 TWO"
    assert {word.text: word.confidence for word in found.trust.words}["GOOD"] == pytest.approx(0.905)


def test_a_word_is_trusted_as_its_worst_part() -> None:
    pieces, logs = ["▁Haus", "tür", "▁zu"], [-0.1, -2.0, 0.0, -0.3]
    assert [(word.text, word.confidence) for word in words_of("Haustür zu", pieces, logs)] == [
        ("Haustür", 0.135),
        (" ", None),
        ("zu", 1.0),
    ]


def test_words_that_are_not_cut_at_blanks_share_one_value() -> None:
    assert {word.confidence for word in words_of("ab cd", ["▁a", "b cd"], [-1.0, -1.0]) if word.confidence} == {0.368}
    assert "".join(word.text for word in evenly(" a  b ", 0.5)) == " a  b "
