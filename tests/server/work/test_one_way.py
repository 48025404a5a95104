"""A sentence is cut, encoded and joined in one way, whoever asks: a command, a document, a stream or the server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.server.running import in_a_loop

from tongsa.config import Recipe, SubwordsSection
from tongsa.decoding import Hypothesis, Search
from tongsa.documents import translate_document
from tongsa.documents.translate import translate_segments
from tongsa.formats.segments import Segment
from tongsa.runs.card import Card
from tongsa.server.work.marked import TranslatedText
from tongsa.server.work.queue import Queue
from tongsa.server.work.queued import QueuedTranslator, TextOptions
from tongsa.server.work.translators import TranslatorChain
from tongsa.text.subwords import Subwords, Vocabulary, learn
from tongsa.translation.options import TranslateOptions
from tongsa.translation.stream import Lines, Stream
from tongsa.translation.translator import Translator

TEXT = ["the cat sat on the mat", "a dog ran over the hill and far away", "one two three four five six seven"] * 9
ALWAYS = TranslateOptions(split="always")


class Reversing:
    """An engine that writes the tokens of the source from the last word to the first."""

    name = "reversing"

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.begins = [piece.startswith("▁") for piece in vocabulary.all_pieces()]

    def translate(self, sources: Sequence[Sequence[int]], search: Search) -> list[list[Hypothesis]]:
        return [[self._one(ids, rank) for rank in range(search.nbest)] for ids in sources]

    def _one(self, ids: Sequence[int], rank: int) -> Hypothesis:
        words: list[list[int]] = []
        for id in ids:
            if self.begins[id] or not words:
                words.append([])
            words[-1].append(id)
        turned = [id for word in (*words[:rank], *reversed(words[rank:])) for id in word]
        alignment = tuple(range(len(ids))) if len(turned) == len(ids) else ()
        return Hypothesis(turned, -0.3 * (len(ids) + 1), -0.3, alignment=alignment)

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        return [[-0.1] * (len(ids) + 1) for ids in targets]


@pytest.fixture(scope="module")
def translator() -> Translator:
    vocabulary = learn(TEXT, SubwordsSection(size=330, character_coverage=1.0), 1)
    card = Card(source="en", target="de", recipe=Recipe())
    return Translator(card, Subwords(vocabulary, vocabulary), Reversing(vocabulary))


def by_the_server(translator: Translator, text: str, options: TextOptions | None = None) -> TranslatedText:
    async def inside() -> TranslatedText:
        queued = QueuedTranslator(Queue(workers=1, capacity=0), threads=2)
        try:
            chain = TranslatorChain("en", "de", (translator,), ())
            return (await queued.texts([text], chain, options or TextOptions()))[0]
        finally:
            queued.close()
            queued.queue.close()

    return in_a_loop(inside())


def by_a_document(translator: Translator, text: str) -> str:
    return translate_segments([Segment(id="", content=(text,))], translator)[0].text


def by_a_stream(translator: Translator, text: str) -> str:
    stream = Stream(translator, ALWAYS, lambda line, number: line.decode())
    (done,) = stream.translate(Lines(BytesIO(text.encode())))
    return done.translations[0].text


words = st.sampled_from(["the", "cat", "sat", "one", "two.", "Four!", "7", "mat?", "hill,", "(a)", "...", "e.g."])
spaces = st.sampled_from([" ", " ", "  ", ". ", "! "])


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(st.tuples(words, spaces), min_size=1, max_size=12), lines=st.booleans())
def test_all_ways_give_the_same_text(translator: Translator, parts: list[tuple[str, str]], lines: bool) -> None:
    text = "".join(word + space for word, space in parts).strip()
    if lines:
        text = f" {text}\n\n{text} \n"
    (found,) = translator.translate([text], ALWAYS)
    assert by_a_document(translator, text) == found.text
    assert by_the_server(translator, text).text == found.text
    if not lines:
        assert by_a_stream(translator, text) == found.text


def test_confidence_is_the_same_from_the_translator_and_the_server(translator: Translator) -> None:
    text = "The cat sat on the mat. One two three! 7"
    (found,) = translator.translate([text], TranslateOptions(split="always", words=True))
    served = by_the_server(translator, text, TextOptions(confidence=True))
    outcome = translate_segments([Segment(id="", content=(text,))], translator)[0]
    assert (served.text, served.words) == (found.text, found.words)
    assert served.confidence == pytest.approx(found.confidence)
    assert served.confidence == pytest.approx(0.741, abs=1e-3)
    assert 0 < outcome.confidence < 1


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that a subword encoder is asked to encode."""
    texts: list[str] = []
    encode, encode_many = Vocabulary.encode, Vocabulary.encode_many

    def counted(self: Vocabulary, text: str) -> list[int]:
        texts.append(text)
        return encode(self, text)

    def counted_many(self: Vocabulary, many: Sequence[str], threads: int) -> list[list[int]]:
        texts.extend(many)
        return encode_many(self, many, threads)

    monkeypatch.setattr(Vocabulary, "encode", counted)
    monkeypatch.setattr(Vocabulary, "encode_many", counted_many)
    return texts


SENTENCES = ["The cat sat on the mat.", "A dog ran over the hill!"]


def through_a_file(translator: Translator, text: str, folder: Path) -> None:
    (folder / "text.txt").write_text(text)
    translate_document(translator, folder / "text.txt")


WAYS: dict[str, Callable[[Translator, str, Path], Any]] = {
    "translator": lambda translator, text, _: translator.translate([text], ALWAYS),
    "with everything": lambda translator, text, _: translator.translate(
        [text], TranslateOptions(split="always", words=True, alignment=True, alternatives=2)
    ),
    "document": through_a_file,
    "server": lambda translator, text, _: by_the_server(translator, text),
    "server with confidence and alternatives": lambda translator, text, _: by_the_server(
        translator, text, TextOptions(confidence=True, alternatives=2)
    ),
    "server in a thread": lambda translator, text, _: by_the_server(translator, text, TextOptions(kind="html")),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_sentence_is_encoded_exactly_once(
    way: str, translator: Translator, encoded: list[str], tmp_path: Path
) -> None:
    WAYS[way](translator, " ".join(SENTENCES), tmp_path)
    assert encoded == SENTENCES


def test_a_text_of_ordinary_length_is_encoded_once_as_a_whole(translator: Translator, encoded: list[str]) -> None:
    translator.translate([" ".join(SENTENCES)])
    assert encoded == [" ".join(SENTENCES)]


def test_a_sentence_too_long_for_the_model_is_measured_and_then_its_parts_are_encoded(
    translator: Translator, encoded: list[str]
) -> None:
    sentences = [f"The cat {n} sat on the mat." for n in range(60)]
    text = " ".join(sentences)
    (found,) = translator.translate([text])
    assert encoded == [text, *sentences]
    assert found.notes == ("translated sentence by sentence",)
