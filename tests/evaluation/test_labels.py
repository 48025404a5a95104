from __future__ import annotations

import pytest

from tongsa.evaluation.labels import Confusion, McNemar


def test_confusion_counts_right_labels_by_given_ones() -> None:
    found = Confusion.of(["a", "b"], ["a", "a", "b", "c"], ["a", "b", "b", "a"])
    assert found.labels == ("a", "b", "c"), "a label that only the test has is added"
    assert found.counts == ((1, 1, 0), (0, 1, 0), (1, 0, 0))
    assert (found.right, found.total) == (2, 4)
    text = found.as_text()
    assert text.startswith("accuracy 50.00% (2 of 4)")
    assert "0.0%" in text


@pytest.mark.parametrize(
    ("only_first", "only_second", "p"),
    # scipy.stats.binomtest(few, few + many).pvalue
    [(10, 0, 0.001953125), (1, 9, 0.021484375), (5, 5, 1.0), (0, 0, 1.0), (60, 40, 0.05688793364098078)],
)
def test_mcnemar_is_the_exact_sign_test_of_examples_that_one_alone_has_right(
    only_first: int, only_second: int, p: float
) -> None:
    assert McNemar(only_first, only_second).p == pytest.approx(p, rel=1e-9)


def test_mcnemar_of_thousands_of_examples_does_not_overflow() -> None:
    assert 0 < McNemar(3_000, 2_000).p < 1e-30


def test_examples_that_both_have_right_or_wrong_do_not_count() -> None:
    found = McNemar.of(list("aaabb"), list("aabbb"), list("abbab"))
    assert (found.only_first, found.only_second) == (2, 0)
