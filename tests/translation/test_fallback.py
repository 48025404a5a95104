"""Broken translations are replaced by another of the n-best that is not broken, and said."""

from __future__ import annotations

from collections.abc import Iterable

from tongsa.decoding.search import Search
from tongsa.translation.fallback import CANDIDATES, without_broken
from tongsa.translation.sentences import Sentence, Translation

ENGLISH = "The weather is very fine today."
SENTENCES = [Sentence(ENGLISH, [1]), Sentence("A man walks down the street.", [2]), Sentence("Good morning.", [3])]
GOOD = Translation(text="Das Wetter ist heute sehr schön.")


class SearchAgain:
    def __init__(self, *alternatives: Translation) -> None:
        self.alternatives = alternatives
        self.calls: list[tuple[list[list[int]], Search]] = []

    def __call__(self, sources: list[list[int]], search: Search) -> Iterable[Translation]:
        self.calls.append((sources, search))
        best, *others = self.alternatives
        return [Translation(text=best.text, notes=best.notes, alternatives=tuple(others)) for _ in sources]


def test_a_copy_is_replaced_by_the_next_that_is_none_and_a_note_says_so() -> None:
    loop = Translation(text="Das Wetter, das", notes=("repetition cut",))
    again = SearchAgain(Translation(text=ENGLISH), loop, GOOD, Translation(text="Anderes."))
    found = without_broken(SENTENCES, {0: Translation(text=ENGLISH), 1: GOOD}, ("en", "de"), Search(beam=4), again)
    assert found[0].text == GOOD.text
    assert found[0].notes == ("another of the n-best was taken, as the best was a copy of the source",)
    assert found[0].alternatives == ()
    assert found[1] == GOOD
    assert again.calls == [([[1]], Search(beam=CANDIDATES, nbest=CANDIDATES))]


def test_ordinary_sentences_are_not_searched_again() -> None:
    again = SearchAgain(GOOD)
    made = {0: GOOD, 2: Translation(text="Guten Morgen.")}
    assert without_broken(SENTENCES, made, ("en", "de"), Search(), again) == made
    assert again.calls == []


def test_if_all_of_the_n_best_are_broken_the_best_stays() -> None:
    loop = Translation(text="Das Wetter, das", notes=("repetition cut",))
    found = without_broken(SENTENCES, {0: loop}, ("en", "de"), Search(), SearchAgain(loop, Translation(text=ENGLISH)))
    assert found == {0: loop}


def test_a_translation_into_another_script_is_broken() -> None:
    again = SearchAgain(Translation(text="오늘은 날씨가 좋습니다."))
    found = without_broken(SENTENCES, {0: Translation(text="Wetter schön")}, ("en", "ko"), Search(), again)
    assert found[0].text == "오늘은 날씨가 좋습니다."


def test_an_empty_translation_is_always_replaced() -> None:
    again = SearchAgain(Translation(text=""), Translation(text=ENGLISH), GOOD)
    made = {0: Translation(text=""), 1: Translation(text=SENTENCES[1].text)}
    found = without_broken(SENTENCES, made, ("en", "de"), Search(), again, only_empty=True)
    assert found[0].text == ENGLISH
    assert found[0].notes == ("another of the n-best was taken, as the best was empty",)
    assert found[1] == made[1]  # a copy stays unless that is asked for
    assert [sources for sources, _ in again.calls] == [[[1]]]
    thorough = without_broken(SENTENCES, made, ("en", "de"), Search(), again)
    assert thorough[0].text == GOOD.text


def test_what_has_no_letters_may_have_an_empty_translation() -> None:
    again = SearchAgain(GOOD)
    made = {0: Translation(text="")}
    assert without_broken([Sentence("...", [1])], made, ("en", "de"), Search(), again, only_empty=True) == made
    assert again.calls == []
