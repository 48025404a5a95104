"""Table 1 measured: the orders that the paper prints come out of the layers themselves."""

from __future__ import annotations

import pytest

from tongsa.base.errors import UsageError
from tongsa.base.progress import Silent
from tongsa.config.complexity import DILATED
from tongsa.lab.paper.table1 import (
    Measured,
    Table1Options,
    draw_table_1,
    measure_table_1,
    path_length,
    rows,
    slope,
)

OPTIONS = Table1Options(lengths=(8, 16, 32), widths=(8, 16), kernel=3, neighbourhood=5, repeats=1)


@pytest.fixture(scope="module")
def measured() -> dict[str, Measured]:
    return {each.kind.name: each for each in measure_table_1(OPTIONS, Silent())}


@pytest.mark.parametrize(
    ("name", "n", "d"),
    [
        ("self-attention", 2, 1),
        ("recurrent", 1, 2),
        ("convolutional", 1, 2),
        ("dilated convolutional", 1, 2),
        ("self-attention (restricted)", 1, 1),
    ],
)
def test_counted_operations_grow_as_table_1_says(measured: dict[str, Measured], name: str, n: int, d: int) -> None:
    assert measured[name].operations["n"] == pytest.approx(n, abs=0.01)
    assert measured[name].operations["d"] == pytest.approx(d, abs=0.01)


def test_only_a_recurrent_layer_waits_for_every_position(measured: dict[str, Measured]) -> None:
    chains = {name: each.chain for name, each in measured.items()}
    assert chains["recurrent"]["32"] > 3 * chains["recurrent"]["8"]
    assert all(chain["32"] == chain["8"] for name, chain in chains.items() if name != "recurrent")


def test_paths_are_as_long_as_the_layers_must_be_many(measured: dict[str, Measured]) -> None:
    """Worked by hand: 31 positions in steps of 2 (k = 3), of 2, 6, 18, 54 (dilated), and of 2 (r = 5)."""
    assert {name: each.path["32"] for name, each in measured.items()} == {
        "self-attention": 1,
        "recurrent": 32,
        "convolutional": 16,
        "dilated convolutional": 4,
        "self-attention (restricted)": 16,
    }


def test_a_power_law_is_found() -> None:
    assert slope([(x, 3 * x**1.5) for x in (2.0, 4.0, 9.0)]) == pytest.approx(1.5)


def test_the_table_shows_the_papers_orders_beside_what_was_measured(measured: dict[str, Measured]) -> None:
    table = draw_table_1(list(measured.values()), OPTIONS)
    for shown in (table.text(), table.markdown(), table.html()):
        assert "O(r·n·d)" in shown
        assert "8 → 32" in shown
        assert "n^2.0 d^1.0" in shown
    assert "<svg" in table.html()


@pytest.mark.parametrize("keys", [{"lengths": (8,)}, {"kernel": 4}, {"neighbourhood": 2}, {"widths": (0, 4)}])
def test_growth_needs_two_sizes_and_odd_neighbourhoods(keys: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Table1Options(**keys)  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [2, 9, 10, 27, 64])
def test_dilated_convolutions_reach_every_length_in_logarithmically_many_layers(n: int) -> None:
    dilated = next(row for row in rows(OPTIONS) if row.kind is DILATED)
    layers = next(count for count in range(1, 9) if 3**count >= n)
    assert path_length(dilated, n, 4) == layers
