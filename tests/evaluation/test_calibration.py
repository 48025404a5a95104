"""Fitting confidence: what is learnt from validation text and from made-up sources."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.evaluation.calibration import fit, groups_by_confidence, make_up, median_split, roc_area
from tongsa.translation.confidence import Calibration, logistic


def drawn(count: int, seed: int) -> list[tuple[float, float]]:
    draw = random.Random(seed)
    return [(-draw.expovariate(1.5), draw.gauss(0, 0.5)) for _ in range(count)]


def test_the_weights_that_made_the_qualities_are_found() -> None:
    rows = drawn(3000, seed=1)
    found = fit(rows, [logistic(1.0 + 1.5 * average + 0.4 * familiar) for average, familiar in rows])
    assert (found.bias, found.average, found.familiarity) == pytest.approx((1.0, 1.5, 0.4), rel=0.05)


def test_confidence_is_the_quality_on_average() -> None:
    rows, draw = drawn(2000, seed=2), random.Random(3)
    qualities = [min(1.0, max(0.0, 0.8 + 0.3 * average + draw.gauss(0, 0.15))) for average, _ in rows]
    weights = fit(rows, qualities)
    calibration = Calibration(weights)
    found = [calibration(average) for average, _ in rows]
    assert sum(found) / len(found) == pytest.approx(sum(qualities) / len(qualities), abs=0.02)


def test_made_up_sources_teach_that_unfamiliar_text_is_translated_worse() -> None:
    """In usual text, familiarity tells nothing."""
    rows = drawn(500, seed=4)
    qualities = [logistic(1.0 + 1.5 * average) for average, _ in rows]
    made_up = [(-1.0, -0.02 * i) for i in range(200)]
    without = fit(rows, qualities)
    weights = fit(rows, qualities, made_up, [0.4 - 0.002 * i for i in range(200)])
    assert without.familiarity == pytest.approx(0.0, abs=0.02)
    assert weights.familiarity > 0.2


@given(st.lists(st.tuples(st.floats(-9, 0), st.floats(-9, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_confidence_never_falls_with_likelihood_or_familiarity_whatever_the_qualities(
    given_: list[tuple[float, float, float]],
) -> None:
    weights = fit([(average, familiar) for average, familiar, _ in given_], [quality for _, _, quality in given_])
    assert weights.average > 0
    assert weights.familiarity >= 0


def test_sources_are_made_up_by_replacing_a_share_of_their_pieces() -> None:
    sources = [[7] * 40 for _ in range(100)]
    made_up = make_up(sources, [8, 9], count=50)
    assert [index for index, _, _ in made_up] == list(range(0, 100, 2))
    for _, ids, left in made_up:
        assert len(ids) == 40
        assert set(ids) <= {7, 8, 9}
        assert left == pytest.approx(ids.count(7) / 40)
    shares = [left for _, _, left in made_up]
    assert min(shares) < 0.1 < 0.9 < max(shares), "from nearly everything to nearly nothing"
    assert made_up == make_up(sources, [8, 9], count=50), "the same every time"


def test_an_empty_source_is_not_made_up() -> None:
    assert make_up([[], [5]], [8]) == [(1, *make_up([[5]], [8])[0][1:])]


def test_the_roc_area_is_how_often_the_better_is_rated_higher() -> None:
    assert roc_area([3, 4], [1, 2]) == 1.0
    assert roc_area([1, 2], [3, 4]) == 0.0
    assert roc_area([1, 3], [2]) == 0.5
    assert roc_area([1, 1], [1]) == 0.5, "ties count half"
    assert roc_area([], [1]) == 0.5


def test_translations_are_split_at_the_median_quality() -> None:
    assert median_split([0.1, 0.2, 0.3, 0.4], [0.9, 0.1, 0.5, 0.6]) == ([0.1, 0.4], [0.2, 0.3])
    assert median_split([0.1, 0.2, 0.3], [0.5, 1.0, 1.0]) == ([0.2, 0.3], [0.1]), "most of them may be perfect"


def test_groups_of_a_reliability_diagram_are_of_equal_size_and_ordered_by_confidence() -> None:
    found = groups_by_confidence([0.4, 0.1, 0.3, 0.2], [0.8, 0.0, 0.6, 0.2], groups=2)
    assert found == [pytest.approx((0.15, 0.1)), pytest.approx((0.35, 0.7))]
    assert len(groups_by_confidence([0.5], [0.5])) == 1
