"""Sentences in capitals."""

from __future__ import annotations

import pytest

import tongsa
from tongsa.translation.capitals import NOTE, in_capitals, lowered
from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import Sentence
from tongsa.translation.translator import Translator


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("WHERE IS THE STATION?", True),
        ("ÜBER DIE BRÜCKE", True),
        ("Where is the Station?", False),
        ("NATO", False),  # one word is more likely a name
        ("12 34", False),
        ("API 키를 입력하십시오", False),  # Hangul has no case
        ("역이 어디예요?", False),
        ("", False),
    ],
)
def test_capitals_are_several_words_whose_letters_are_all_capitals(text: str, expected: bool) -> None:
    assert in_capitals(text) == expected


def test_capitals_that_the_vocabulary_knows_stay_as_they_are() -> None:
    """The first falls apart into letters, the second is as many pieces as in lower case."""
    sentences = [Sentence("BIG DOG", [1, 2, 3, 4, 5, 6]), Sentence("USB PORT", [1, 2]), Sentence("A dog", [1, 2])]
    asked: list[str] = []

    def encode(texts: list[str]) -> list[Sentence]:
        asked.extend(texts)
        return [Sentence(text, [7, 8]) for text in texts]

    assert lowered(sentences, encode) == {0: Sentence("Big dog", [7, 8])}
    assert asked == ["Big dog", "Usb port"]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return tongsa.load("en-de", engine="ctranslate2", device="cpu", threads=1)


def test_a_sentence_in_capitals_has_the_translation_of_one_in_lower_case(translator: Translator) -> None:
    plain, loud, other = translator.translate(["Where is the station?", "WHERE IS THE STATION?", "Good morning."])
    assert loud.text == plain.text.upper() != plain.text
    assert loud.notes == (NOTE,)
    assert (plain.notes, other.notes) == ((), ())
    first = translator.translate(["WHERE IS THE STATION?"], TranslateOptions(alternatives=2))[0]
    assert [each.text.isupper() for each in (first, *first.alternatives)] == [True] * 3


def test_a_sentence_whose_tokens_are_referred_to_is_translated_as_it_is(translator: Translator) -> None:
    """A document places its tags by the alignment with the tokens of the source."""
    aligned = translator.translate(["WHERE IS THE STATION?"], TranslateOptions(alignment=True))[0]
    assert NOTE not in aligned.notes
    assert len(aligned.source_tokens) > 10
