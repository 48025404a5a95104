"""Position encodings against the formula of the paper."""

from __future__ import annotations

import math

import pytest
import torch

from tongsa.models.embeddings import LearnedPositions, SinusoidalPositions, sinusoids


@pytest.mark.parametrize(("position", "i"), [(0, 0), (1, 0), (3, 2), (77, 5), (999, 7)])
def test_sinusoids_are_those_of_the_paper(position: int, i: int) -> None:
    angle = position / 10000 ** (2 * i / 16)
    row = sinusoids(1000, 16)[position]
    assert float(row[2 * i]) == pytest.approx(math.sin(angle), abs=1e-6)
    assert float(row[2 * i + 1]) == pytest.approx(math.cos(angle), abs=1e-6)


def test_the_table_of_sinusoids_grows_with_the_sequence() -> None:
    positions = SinusoidalPositions(d_model=8)
    for first, length in ((0, 1), (2, 700), (600, 1000), (0, 3)):
        torch.testing.assert_close(positions(first, length), sinusoids(first + length, 8)[first:])


def test_sinusoids_are_no_weights() -> None:
    positions = SinusoidalPositions(d_model=8)
    assert not list(positions.parameters())
    assert not positions.state_dict()


def test_learned_positions_are_the_rows_of_a_weight() -> None:
    positions = LearnedPositions(d_model=4, length=6)
    with torch.no_grad():
        positions.weight.copy_(torch.arange(24.0).view(6, 4))
    assert positions(2, 3)[:, 0].tolist() == [8, 12, 16]
