from __future__ import annotations

import dataclasses
import re

from hypothesis import given
from hypothesis import strategies as st

from tongsa.pages.charts import (
    Axis,
    BarChart,
    Group,
    Line,
    LineChart,
    draw_bars,
    draw_lines,
    padded,
    round_ticks,
    short,
)
from tongsa.pages.curves import Point, seconds_at, smoothed, speeds, thinned

finite = st.floats(-1e6, 1e6, allow_nan=False)


def line(values: list[float]) -> list[Point]:
    return [Point(n, 2.0 * n, value) for n, value in enumerate(values, start=1)]


def test_ticks_stand_at_round_numbers() -> None:
    assert round_ticks(0, 10, 5) == [0, 2, 4, 6, 8, 10]
    assert round_ticks(0, 0.003, 5) == [0, 0.0005, 0.001, 0.0015, 0.002, 0.0025, 0.003]
    assert round_ticks(1234, 5678, 4) == [2000, 3000, 4000, 5000]


@given(finite, st.floats(1e-6, 1e6), st.integers(2, 10))
def test_ticks_rise_and_lie_within_their_bounds(low: float, width: float, about: int) -> None:
    ticks = round_ticks(low, low + width, about)
    assert ticks == sorted(set(ticks))
    assert len(ticks) <= 2 * about + 2
    assert all(low - 1e-6 * width <= tick <= low + width * (1 + 1e-6) for tick in ticks)


@given(st.lists(finite, min_size=1, max_size=20))
def test_bounds_hold_all_values_and_are_never_empty(values: list[float]) -> None:
    low, high = padded(values)
    assert low < high
    assert low <= min(values) + 1e-6 * (high - low)
    assert max(values) <= high + 1e-6 * (high - low)


def test_an_axis_lays_its_ends_at_its_ends() -> None:
    assert [Axis(0, 10, 100, 0).at(value) for value in (0, 5, 10)] == [100, 50, 0]
    assert [Axis(1, 100, 0, 10, logarithmic=True).at(value) for value in (1, 10, 100)] == [0, 5, 10]


def test_short_ticks() -> None:
    assert [short(value) for value in (0, 0.0005, 5000, 20_000, 1_500_000)] == ["0", "0.0005", "5,000", "20k", "1.5M"]


def test_thinning_keeps_the_mean_and_the_last_update() -> None:
    curve = line([float(n % 10) for n in range(10_000)])
    thin = thinned(curve, 100)
    assert len(thin) == 100
    assert thin[-1].update == curve[-1].update
    assert abs(sum(point.value for point in thin) / 100 - 4.5) < 1e-9


def test_smoothing_leaves_a_straight_line_straight() -> None:
    curve = line([3.0 - 0.1 * n for n in range(50)])
    assert all(abs(a.value - b.value) < 1e-9 for a, b in zip(curve, smoothed(curve, 7), strict=True))


def test_smoothing_takes_the_noise_out() -> None:
    curve = line([1.0 if n % 2 else 3.0 for n in range(101)])
    assert all(abs(point.value - 2) < 0.15 for point in smoothed(curve, 10)[10:-10])


def test_speed_is_tokens_by_time() -> None:
    events = [{"update": n, "seconds": 2.0 * n, "target_tokens": 500 * n} for n in range(1, 400)]
    assert {round(point.value, 6) for point in speeds(events)} == {250.0}


def test_the_clock_is_read_between_events() -> None:
    clock = [Point(10, 100, 0), Point(20, 300, 0)]
    assert [seconds_at(clock, update) for update in (5, 10, 15, 20, 99)] == [50, 100, 200, 300, 300]


def test_a_long_scale_has_few_lines_and_a_model_without_points_is_left_out() -> None:
    falling = [(float(x), 10.0**-x) for x in range(1, 25)]
    chart = LineChart(
        title="t",
        note="n",
        under="u",
        tell=str,
        lines=[Line("a", "m0", falling), Line("b", "m1", []), Line("c", "m2", falling[:3])],
        logarithmic=True,
    )
    drawn = draw_lines(chart)
    assert 3 <= len(re.findall(r'class="grid" d="M46 [\d.]+H', drawn)) <= 8
    assert 'class="key m0"' in drawn
    assert 'class="key m1"' not in drawn
    assert draw_lines(dataclasses.replace(chart, lines=[])) == ""


def test_bars_without_a_known_top_end_at_a_round_number_and_texts_are_escaped() -> None:
    drawn = draw_bars(
        BarChart(
            title="<t>", note="", names=["a", "b"], groups=[Group("<x>", [3.0, 7.0])], under="u", top=None, unit="%"
        )
    )
    assert "<t>" not in drawn
    assert "<x>" not in drawn
    assert drawn.count("<rect") == 2
    assert "b 7.0% · &lt;x&gt;" in drawn
    assert 'class="key bar0"' in drawn
    assert draw_bars(BarChart(title="t", note="", names=["a"], groups=[], under="u", top=None))
