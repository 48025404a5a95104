"""Which words of a translation a model writes for a source term, and where the term goes then."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from tongsa.translation.aligned_text import AlignedText
from tongsa.translation.evidence import LIKELY, Question, evidence
from tongsa.translation.sentences import Translation

SOURCE = "He holds hands with a man."
TRANSLATION = "Er hält mit einem Mann."
KNOWN = {
    ("hands", "Hände"): -2.0,
    ("holds", "hält"): -3.0,
    ("hands", "hält"): -6.0,
    ("man", "Mann"): -1.0,
    ("a", "einem"): -4.0,
    ("hands", "mit"): -9.0,
    ("with", "mit"): -9.0,
}
"""Log-probabilities of a word alone; of all others -10."""


class Vocabulary:
    """Each word is a piece."""

    words: Sequence[str] = sorted({word for pair in KNOWN for word in pair} | {"He", "Er"})

    def encode(self, text: str) -> list[int]:
        return [self.words.index(text)]


class Engine:
    asked = 0

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        self.asked += len(sources)
        pairs = [(Vocabulary.words[a], Vocabulary.words[b]) for (a,), (b,) in zip(sources, targets, strict=True)]
        return [[KNOWN.get(pair, -10.0), -5.0] for pair in pairs]


def model() -> Any:
    return SimpleNamespace(engine=Engine(), subwords=SimpleNamespace(source=Vocabulary(), target=Vocabulary()))


def found(named: Sequence[str] = ("mit",)) -> dict[str, float]:
    words = TRANSLATION.rstrip(".").split()
    start = SOURCE.index("hands")
    question = Question(source=SOURCE, start=start, end=start + 5, words=words, named=named)
    return evidence(model(), [question])[0]


def test_a_word_that_another_source_word_explains_better_speaks_against_itself() -> None:
    assert found()["hält"] == -3.0
    assert found()["mit"] == 0.0, "nothing is known of it"


def test_words_that_are_improbable_given_the_term_are_not_compared() -> None:
    assert set(found()) == {"mit", "hält", "Er"}
    assert len(found(named=())) == LIKELY


def test_a_source_of_one_word_compares_with_nothing() -> None:
    question = Question(source="hands", start=0, end=5, words=["Hände"], named=[])
    assert evidence(model(), [question]) == [{"Hände": 0.0}]
    assert evidence(model(), []) == []


def test_a_pair_of_words_is_scored_once_for_all_sentences() -> None:
    question = Question(source="hands with a man", start=0, end=5, words=["Hände", "Mann"], named=[])
    one, many = model(), model()
    evidence(one, [question])
    evidence(many, [question] * 5)
    assert one.engine.asked == many.engine.asked


ALIGNMENT = {"Er": 0, "hält": 1, "mit": 2, "einem": 4, "Mann": 5, ".": 6}


@pytest.fixture
def aligned() -> AlignedText:
    tokens = [f"▁{word}" for word in TRANSLATION.rstrip(".").split()] + ["."]
    sources = [f"▁{word}" for word in SOURCE.rstrip(".").split()] + ["."]
    pairs = tuple((ALIGNMENT[token.strip("▁")], place) for place, token in enumerate(tokens))
    details = Translation(text=TRANSLATION, tokens=tuple(tokens), source_tokens=tuple(sources), alignment=pairs)
    return AlignedText.of(SOURCE, TRANSLATION, details)


HANDS = (SOURCE.index("hands"), SOURCE.index("hands") + 5)
MIT = (TRANSLATION.index("mit"), TRANSLATION.index("mit") + 3)
MANN = (TRANSLATION.index("Mann"), TRANSLATION.index("Mann") + 4)


def test_a_word_that_translates_another_is_not_clearly_replaced_although_it_is_aligned(aligned: AlignedText) -> None:
    places, clear = aligned.places(HANDS, aligned.words, {"mit": -3.0, "Mann": -3.0}, several=False)
    assert not clear
    assert MIT in places, "the model may still prefer it"
    assert MANN not in places
    assert (MIT[0] - 1, MIT[0] - 1) in places, "or the term goes between words"
    assert aligned.places(HANDS, aligned.words, {"mit": 0.0}, several=False) == ([MIT], True)


def test_a_word_that_the_term_explains_is_replaced_although_it_is_not_aligned(aligned: AlignedText) -> None:
    places, clear = aligned.places(HANDS, aligned.words, {"mit": -3.0, "Mann": 1.5}, several=False)
    assert (places, clear) == ([MANN], True)


def test_places_between_translations_of_the_neighbours_are_near(aligned: AlignedText) -> None:
    assert aligned.near((MIT[0] - 1, MIT[0] - 1), HANDS) == 2
    assert aligned.near((MANN[1], MANN[1]), HANDS) == 0


def test_a_longer_word_beside_the_term_counts_for_more(aligned: AlignedText) -> None:
    elsewhere = (len(TRANSLATION), len(TRANSLATION))
    assert 0 < aligned.others(elsewhere, HANDS) < 1
    noun = (SOURCE.index("man"), SOURCE.index("man") + 3)
    assert aligned.others(elsewhere, noun) > aligned.others(elsewhere, HANDS)


def test_a_word_in_two_parts_is_replaced_whole() -> None:
    text = "방법을 보여 줍니다."
    aligned = AlignedText.of("shows how", text, Translation(text=text))
    place = (text.index("보여"), text.index("보여") + 2)
    assert aligned.with_parts(place, "보여줍니다") == (place[0], text.index("."))
    assert aligned.with_parts(place, "나타냅니다") == place
    assert aligned.with_parts((place[1], place[1]), "보여줍니다") == (place[1], place[1]), "nothing is replaced there"
