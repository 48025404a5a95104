from __future__ import annotations

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from tongsa.pages.examples import Example, choose, marked
from tongsa.pages.translation import length_buckets, rank_correlation, reliability


def test_words_that_differ_are_marked_on_their_side() -> None:
    ours, theirs = marked("the cat sleeps.", "the dog sleeps well.", "en")
    assert ours == "the <del>cat</del> sleeps."
    assert theirs == "the <ins>dog</ins> sleeps <ins>well</ins>."


def test_chinese_is_compared_by_character() -> None:
    assert marked("我爱猫", "我爱狗", "zh") == ("我爱<del>猫</del>", "我爱<ins>狗</ins>")


@given(st.text(max_size=40), st.text(max_size=40))
def test_marks_change_no_text_and_let_no_markup_through(translation: str, reference: str) -> None:
    clean = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", "\N{REPLACEMENT CHARACTER}", translation)
    ours, _ = marked(clean, reference, "en")
    assert set(re.findall(r"<[^>]*>", ours)) <= {"<del>", "</del>"}
    assert unescape(re.sub(r"</?del>", "", ours)) == clean


def test_best_worst_and_random_never_meet() -> None:
    examples = [Example(f"source {n}", "reference", "translation", None) for n in range(30)]
    chosen = choose(examples, [float(n) for n in range(30)], each=4)
    assert chosen["Best"] == [29, 28, 27, 26]
    assert chosen["Worst"] == [0, 1, 2, 3]
    assert len({*chosen["Best"], *chosen["Worst"], *chosen["Random"]}) == 12


def test_a_sentence_said_twice_is_shown_once() -> None:
    chosen = choose([Example("the same", "r", "t", None)] * 9, [50.0] * 9)
    assert sum(map(len, chosen.values())) == 1


@given(st.lists(st.integers(1, 60), min_size=1, max_size=200))
def test_every_length_falls_into_one_bucket(lengths: list[int]) -> None:
    buckets = length_buckets(lengths)
    assert all(sum(low <= length <= high for low, high in buckets) == 1 for length in lengths)


def test_rank_correlation_knows_order_and_ties() -> None:
    assert rank_correlation([1, 2, 3], [10, 200, 3000]) == 1
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == -1
    assert rank_correlation([1, 1, 1], [3, 2, 1]) == 0


def test_a_reliability_diagram_needs_translations_with_a_confidence() -> None:
    rated = [Example(f"source {n}", "r", "t", None, confidence=n / 40) for n in range(40)]
    (figure,) = reliability(rated, [2.5 * n for n in range(40)])
    assert "ROC area 1.00" in figure
    assert figure.count("<circle") == 10
    assert reliability([Example("s", "r", "t", -0.5)] * 40, [50.0] * 40) == []
    assert reliability(rated[:9], [50.0] * 9) == []
