"""Confidence rises with the likelihood and the familiarity of a text, everywhere and without plateaus."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.config import Recipe
from tongsa.runs.card import Card, ConfidenceWeights
from tongsa.text.frequencies import PieceFrequencies
from tongsa.translation.confidence import Calibration, logistic

AVERAGES = [-30.0 + 0.01 * i for i in range(3001)]


def test_without_calibration_it_is_the_probability_of_a_token() -> None:
    assert Calibration()(-0.5) == pytest.approx(math.exp(-0.5))
    assert Calibration()(0.5) == 1.0, "never above one"


def test_with_weights_every_average_has_a_confidence_of_its_own() -> None:
    calibration = Calibration(ConfidenceWeights(bias=3.4, average=5.9, familiarity=0.4))
    found = [calibration(average) for average in AVERAGES]
    assert sorted(set(found)) == found
    assert 0 < found[0] < 1e-9
    assert found[-1] == pytest.approx(logistic(3.4))


def test_a_source_of_rarer_pieces_is_less_certain() -> None:
    frequencies = PieceFrequencies.count(np.array([2] * 900 + [3] * 90 + [4] * 9), 6)
    calibration = Calibration(ConfidenceWeights(bias=0.0, average=1.0, familiarity=0.5), frequencies)
    found = [calibration(-0.2, ids) for ids in ([2, 2], [2, 3], [3, 3], [3, 4], [5, 5])]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 5


def test_the_points_of_an_earlier_version_are_interpolated() -> None:
    card = Card(recipe=Recipe(), confidence=((0.0, 0.9), (-2.0, 0.2), (-1.0, 0.4)))
    calibration = Calibration.of(card, None)
    expected = {-2.0: 0.2, -1.5: 0.3, -1.0: 0.4, -0.25: 0.775, 0.0: 0.9}
    assert {x: pytest.approx(calibration(x)) for x in expected} == expected


points = st.lists(
    st.tuples(st.integers(-300, 0), st.integers(1, 99)), min_size=1, max_size=12, unique_by=lambda p: p[0]
)


@given(points)
def test_beyond_the_points_of_an_earlier_version_confidence_goes_on_falling_and_rising(
    drawn: list[tuple[int, int]],
) -> None:
    ordered = zip(sorted(x for x, _ in drawn), sorted(y for _, y in drawn), strict=True)
    calibration = Calibration(points=tuple((x / 100, y / 100) for x, y in ordered))
    found = [calibration(average) for average in AVERAGES]
    assert all(0 <= each <= 1 for each in found)
    assert found == sorted(found)
    lowest = min(x for x, _ in drawn) / 100
    below = [calibration(average) for average in AVERAGES if -10 < average < lowest]
    assert len(set(below)) == len(below)


def test_old_points_at_the_same_likelihood_are_no_division_by_zero() -> None:
    calibration = Calibration(points=((-1.0, 0.2), (-1.0, 0.6), (0.0, 0.8)))
    assert calibration(-1.0) == pytest.approx(0.6)
    assert calibration(-0.5) == pytest.approx(0.7)
