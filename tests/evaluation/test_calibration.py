"""The curve from a model's log-probability to quality: isotonic regression over bins, each weighing what it holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.evaluation.calibration import fit

pairs = st.lists(
    st.tuples(st.integers(-300, 0), st.integers(0, 100)), min_size=1, max_size=30, unique_by=lambda p: p[0]
)


def test_a_smaller_bin_weighs_less_when_pooled() -> None:
    """Two bins of two pairs and one pair: the pool is the mean over the three pairs, not over the two bins."""
    assert fit([-3.0, -2.0, -1.0], [0.9, 0.7, 0.2], bins=2) == [[-2.0, 0.6]]


def test_a_pool_weighs_all_that_was_pooled_before() -> None:
    assert fit([-4.0, -3.0, -2.0, -1.0], [0.1, 0.9, 0.8, 0.1], bins=4) == [[-4.0, 0.1], [-2.0, 0.6]]


def test_bins_in_order_stay_as_they_are() -> None:
    assert fit([-1.0, -4.0, -2.0, -3.0], [0.8, 0.2, 0.6, 0.4], bins=2) == [[-3.5, 0.3], [-1.5, 0.7]]


def test_bins_of_equal_quality_are_one_point() -> None:
    assert fit([-2.0, -1.0], [0.5, 0.5], bins=2) == [[-1.5, 0.5]]


@given(pairs, st.integers(1, 12))
def test_the_curve_is_the_weighted_isotonic_regression(drawn: list[tuple[int, int]], bins: int) -> None:
    """Against its closed form: at each bin, the largest over beginnings of the smallest over ends of weighted means."""
    averages, qualities = [x / 100 for x, _ in drawn], [y / 100 for _, y in drawn]
    ordered = [y for _, y in sorted(zip(averages, qualities, strict=True))]
    size = -(-len(ordered) // bins)
    groups = [ordered[i : i + size] for i in range(0, len(ordered), size)]

    def mean(first: int, last: int) -> float:
        inside = [y for group in groups[first : last + 1] for y in group]
        return sum(inside) / len(inside)

    expected = {
        round(max(min(mean(a, b) for b in range(i, len(groups))) for a in range(i + 1)), 4) for i in range(len(groups))
    }
    found = fit(averages, qualities, bins=bins)
    assert [x for x, _ in found] == sorted(x for x, _ in found)
    assert [y for _, y in found] == pytest.approx(sorted(expected), abs=2e-4)
