"""Finding where lines slipped."""

from __future__ import annotations

import numpy as np
import pytest

from tongsa.corpus.shifts import offsets


def evidence(truth: list[int]) -> tuple[np.ndarray, list[int]]:
    return np.array([4.0 if offset == 0 else -4.0 for offset in truth]), truth


@pytest.mark.parametrize("offset", [1, -1, 2, -3])
def test_a_region_is_found_with_its_offset(offset: int) -> None:
    straight, truth = evidence([0] * 20 + [offset] * 12 + [0] * 20)
    assert offsets(straight, lambda line, step: 4.0 if truth[line] == step else -4.0) == truth


def test_weak_lines_inside_of_a_region_do_not_end_it() -> None:
    straight, truth = evidence([0] * 10 + [1] * 12 + [0] * 10)
    straight[15] = 1.5
    found = offsets(straight, lambda line, step: (4.0 if truth[line] == step else -4.0) * (line != 15))
    assert found == truth


def test_a_line_that_belongs_nowhere_is_no_shift() -> None:
    straight = np.full(30, 4.0)
    straight[[7, 8, 20]] = -4.0
    assert offsets(straight, lambda line, step: -4.0) == [0] * 30


def test_the_line_that_lost_its_partner_belongs_to_the_region() -> None:
    straight, truth = evidence([0] * 10 + [1] * 9 + [9] + [0] * 10)
    assert offsets(straight, lambda line, step: 4.0 if truth[line] == step else -4.0)[19] == 1
