"""Texts are cut into sentences, and their translations joined again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.translation.confidence import Word, same_for_all_words, weighted_mean, word_confidences
from tongsa.translation.sentences import Part, TextPlan, Translation, cut, join_texts

pieces = st.sampled_from(["One", "two.", "3", "Four!", "五。", " ", "\n", "\t", "\u3000", "  ", "x" * 40, "?"])


@given(parts=st.lists(pieces, max_size=30), longest=st.sampled_from([None, 7, 1000]), whole=st.booleans())
def test_the_parts_of_a_text_joined_are_the_text(parts: list[str], longest: int | None, whole: bool) -> None:
    text = "".join(parts)
    found = cut(text, "en", whole=whole, longest=longest)
    assert "".join("".join(part) for part in found) == text
    assert join_texts(found, [None] * len(found), "en", "de") == text
    assert all(part.text == part.text.strip() for part in found)
    assert longest is None or all(len(part.text) <= longest for part in found)


def test_a_text_may_be_kept_whole() -> None:
    assert cut(" One. Two.\n", "en", whole=True) == [(" ", "One. Two.", "\n")]
    assert [part.text for part in cut("One. Two.", "en")] == ["One.", "Two."]


def test_a_text_longer_than_a_part_may_be_is_not_kept_whole() -> None:
    assert [part.text for part in cut("One. Two.", "en", whole=True, longest=8)] == ["One.", "Two."]
    assert [part.text for part in cut("x" * 20, "en", longest=8)] == ["x" * 8, "x" * 8, "x" * 4]


def test_languages_without_blanks_are_joined_without_them() -> None:
    texts = ["A.", "B."]
    assert join_texts(cut("One. Two.", "en"), texts, "en", "ja") == "A.B."
    assert join_texts(cut("一。二。", "zh"), texts, "zh", "en") == "A. B."
    assert join_texts(cut("One.\nTwo.", "en"), texts, "en", "ja") == "A.\nB."


def translation(text: str, *, score: float, confidence: float | None = None, other: str = "") -> Translation:
    tokens = tuple("▁" + word for word in text.split())
    return Translation(
        text=text,
        score=score,
        log_probability=2 * score,
        source_tokens=tokens,
        tokens=tokens,
        ids=tuple(range(len(tokens))),
        alignment=tuple((i, i) for i in range(len(tokens))),
        confidence=confidence,
        words=tuple(same_for_all_words(text, confidence)),
        notes=("length limit",),
        alternatives=(translation(other, score=score - 1, confidence=confidence),) if other else (),
    )


PLAN = TextPlan(cut("Ab cd ef. 42.\n Gh.", "en"), "en", "de", note="by sentence")


def test_a_joined_translation_has_what_its_sentences_have() -> None:
    assert PLAN.sentences == ["Ab cd ef.", "Gh."]
    first, second = translation("B A", score=-1.0, confidence=0.8), translation(" C ", score=-3.0, confidence=0.4)
    found = PLAN.join([first, second])
    assert found.text == "B A 42.\n C"
    assert (found.score, found.log_probability) == (-2.0, -8.0)
    assert found.tokens == found.source_tokens == ("▁B", "▁A", "▁C")
    assert found.ids == (0, 1, 0)
    assert found.alignment == ((0, 0), (1, 1), (2, 2))
    assert found.confidence == pytest.approx((0.8 * len("Ab cd ef.") + 0.4 * len("Gh.")) / 12)
    assert found.notes == ("by sentence", "length limit")
    assert found.alternatives == ()


def test_words_of_sentences_are_joined_and_what_is_between_them_has_no_confidence() -> None:
    first, second = translation("B A", score=-1.0, confidence=0.8), translation("C", score=-3.0, confidence=0.4)
    found = PLAN.join([first, second])
    assert [(word.text, word.confidence) for word in found.words if not word.text.isspace()] == [
        ("B", 0.8),
        ("A", 0.8),
        ("42.", None),
        ("C", 0.4),
    ]
    assert "".join(word.text for word in found.words) == found.text


def test_alternatives_are_joined_by_rank_and_the_best_stands_in_where_there_are_fewer() -> None:
    found = PLAN.join([translation("A", score=-1.0, other="Z"), translation("B", score=-1.0)])
    assert [other.text for other in found.alternatives] == ["Z 42.\n B"]
    assert found.confidence is None


def test_a_sentence_that_became_nothing_leaves_no_blank_at_the_end() -> None:
    plan = TextPlan(cut("One. Two.", "en"), "en", "de")
    found = plan.join([translation("A", score=0.0, confidence=1.0), translation("", score=0.0, confidence=1.0)])
    assert found.text == "A"
    assert found.words == (Word("A", 1.0),)


def test_a_text_of_one_part_is_what_its_sentence_is() -> None:
    one = translation("A", score=-1.0)
    assert TextPlan([Part("", "One.", "")], "en", "de").join([one]) is one
    assert TextPlan([Part(" ", "One.", "\n")], "en", "de").join([one]).text == " A\n"


def test_a_text_without_letters_is_copied_with_full_confidence() -> None:
    plan = TextPlan(cut(" 1 + 1 = 2. ", "en"), "en", "de")
    assert plan.sentences == []
    assert (plan.join([]).text, plan.join([]).confidence) == (" 1 + 1 = 2. ", 1.0)
    assert TextPlan([], "en", "de").join([]).text == ""


# Confidence


def test_a_word_is_trusted_as_its_worst_part() -> None:
    tokens, scores = ["▁Haus", "tür", "▁zu"], [-0.1, -2.0, 0.0, -0.3]
    assert word_confidences("Haustür zu", tokens, scores) == [Word("Haustür", 0.135), Word(" ", None), Word("zu", 1.0)]


def test_words_that_the_model_did_not_write_have_no_confidence_and_take_none_from_others() -> None:
    tokens, scores = ["▁Haus", "tür", ",", "▁zu"], [-0.1, -2.0, 0.0, 0.0, -0.3]
    found = word_confidences("☃ HAUSTÜR☃, zu ☃", tokens, scores)
    told = [(word.text, word.confidence) for word in found if word.text != " "]
    assert told == [("☃", None), ("HAUSTÜR☃,", 0.135), ("zu", 1.0), ("☃", None)]


def test_words_that_do_not_begin_where_tokens_do_share_one_value() -> None:
    found = word_confidences("ab cd", ["▁a", "b cd"], [-1.0, -1.0])
    assert {word.confidence for word in found if word.confidence} == {0.368}
    assert "".join(word.text for word in same_for_all_words(" a  b ", 0.5)) == " a  b "


def test_the_confidence_of_a_text_is_the_mean_of_its_parts_weighted_by_length() -> None:
    assert weighted_mean([(1.0, 1), (0.0, 3)]) == pytest.approx(0.25)
    assert weighted_mean([], empty=0.5) == weighted_mean([(0.1, 0)], empty=0.5) == 0.5
