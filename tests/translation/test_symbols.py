"""Symbols that a vocabulary does not hold are carried over."""

from __future__ import annotations

import pytest

import tongsa
from tongsa.config import SubwordsSection
from tongsa.text.subwords import Vocabulary, learn
from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import Sentence, Translation
from tongsa.translation.symbols import NOTE, Bare, Carried, bare_sentences, put_back, taken_out
from tongsa.translation.translator import Translator


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    text = ["the cat sat on the mat.", "a dog ran over the hill, and far away!"] * 9
    return learn(text, SubwordsSection(size=330, character_coverage=1.0), 1)


@pytest.mark.parametrize(
    ("text", "rest", "carried"),
    [
        ("the cat sat.", "the cat sat.", []),
        ("the cat ☃ sat.", "the cat sat.", [Carried("☃", 6, True, True)]),
        ("☃ the cat", "the cat", [Carried("☃", 0, False, True)]),
        ("the cat☃.", "the cat.", [Carried("☃", 6, False, False)]),
        ("the☃cat", "the cat", [Carried("☃", 3, False, False)]),  # two words all the same
        ("the cat 😀😀 ran 猫.", "the cat ran .", [Carried("😀😀", 6, True, True), Carried("猫", 9, True, False)]),
        ("the cät", "the cät", []),  # a letter of a word
        ("the cat 猫猫cat", "the cat 猫猫cat", []),
    ],
)
def test_what_is_unknown_is_taken_out_unless_it_is_a_part_of_a_word(
    vocabulary: Vocabulary, text: str, rest: str, carried: list[Carried]
) -> None:
    assert taken_out(text, "en", vocabulary) == (rest, carried)


@pytest.mark.parametrize(
    ("language", "carried"), [("en", True), ("ko", True), ("zh", False), ("ja", False), ("und", False)]
)
def test_letters_of_the_source_language_stay_however_rare_they_are(
    vocabulary: Vocabulary, language: str, carried: bool
) -> None:
    """Of a language whose script is unknown, any letter may be one."""
    assert bool(taken_out("the cat 猫", language, vocabulary)[1]) == carried
    assert bool(taken_out("the cat 쉴", language, vocabulary)[1]) == (language in ("en", "zh", "ja"))
    assert taken_out("the cat ☃", language, vocabulary)[1]


def test_sentences_of_symbols_alone_and_of_foreign_words_are_left_alone(vocabulary: Vocabulary) -> None:
    def encode(texts: list[str]) -> list[Sentence]:
        return [Sentence(text, vocabulary.encode(text)) for text in texts]

    sentences = encode(["☃", "the cat ☃", "the cat", "☃ жук"])
    assert bare_sentences(sentences, "en", vocabulary, encode) == {
        1: Bare(encode(["the cat"])[0], [Carried("☃", 6, True, False)])
    }


def test_a_vocabulary_of_bytes_knows_everything() -> None:
    vocabulary = learn(["the cat"] * 9, SubwordsSection(size=300, kind="byte"), 1)
    assert vocabulary.knows("☃")
    assert not vocabulary.has_unknown(vocabulary.encode("the ☃"))


@pytest.mark.parametrize(
    ("carried", "expected"),
    [
        ([Carried("☃", 0, False, True)], "☃ Die Katze rannte."),
        ([Carried("☃", 3, True, True)], "Die ☃ Katze rannte."),
        ([Carried("☃", 6, False, True)], "Die Katze☃ rannte."),
        ([Carried("☃", 9, True, False)], "Die Katze rannte ☃."),
        ([Carried("☃", 9, True, True)], "Die Katze rannte ☃."),  # no space before a full stop
        ([Carried("☃", 10, True, False)], "Die Katze rannte. ☃"),
        ([Carried("☃", 3, True, True), Carried("😀", 6, True, True)], "Die ☃ Katze 😀 rannte."),
        ([Carried("☃", 6, True, True), Carried("猫", 6, True, True)], "Die Katze ☃ 猫 rannte."),
    ],
)
def test_a_symbol_stands_behind_the_translation_of_the_word_it_stood_behind(
    carried: list[Carried], expected: str
) -> None:
    """The tokens `Kat` and `ze` belong to one word, and only the first is aligned."""
    made = Translation(
        text="Die Katze rannte.",
        source_tokens=("▁the", "▁cat", "▁ran", "."),
        tokens=("▁Die", "▁Kat", "ze", "▁rannte", "."),
        alignment=((0, 0), (1, 1), (2, 3), (3, 4)),
    )
    found = put_back(made, "the cat ran.", carried)
    assert (found.text, found.notes) == (expected, (NOTE,))


def test_symbols_find_their_places_where_the_order_of_words_changes() -> None:
    made = Translation(
        text="Gestern rannte sie.",
        source_tokens=("▁she", "▁ran", "▁yesterday", "."),
        tokens=("▁Gestern", "▁rannte", "▁sie", "."),
        alignment=((2, 0), (1, 1), (0, 2), (3, 3)),
    )
    found = put_back(made, "she ran yesterday.", [Carried("☃", 3, True, True), Carried("😀", 15, True, False)])
    assert found.text == "Gestern 😀 rannte sie ☃."


@pytest.fixture(scope="module")
def translator() -> Translator:
    return tongsa.load("en-de", engine="ctranslate2", device="cpu", threads=1)


def test_an_emoji_changes_nothing_else(translator: Translator) -> None:
    plain, happy, loud = translator.translate(["I love you.", "😀 I love you.", "I LOVE YOU. ☃"])
    assert happy.text == f"😀 {plain.text}"
    assert loud.text == f"{plain.text.upper()} ☃"
    assert (plain.notes, happy.notes) == ((), (NOTE,))
    (first,) = translator.translate(["I love you 😀"], TranslateOptions(alternatives=2, tokens=False))
    assert all("😀" in each.text for each in (first, *first.alternatives))
    assert len(first.alternatives) == 2


def test_a_sentence_whose_tokens_are_referred_to_is_translated_as_it_is(translator: Translator) -> None:
    (found,) = translator.translate(["I love you 😀"], TranslateOptions(alignment=True))
    assert NOTE not in found.notes
    assert "<0xF0>" in found.source_tokens
