"""Learning rates against the paper's formula."""

from __future__ import annotations

import pytest

from tongsa.config import TrainingSection
from tongsa.config.schedules import FALLING, Moment, equation_3
from tongsa.config.schedules import learning_rate as rate_at


def learning_rate(section: TrainingSection, d_model: int, update: int, fraction: float) -> float:
    return rate_at(section, Moment(update=update, fraction=fraction, d_model=d_model))


def test_noam_is_equation_3_with_the_papers_numbers() -> None:
    """d_model 512, 4,000 steps of warm-up: it peaks at 1/sqrt(512 * 4000)."""
    section = TrainingSection()
    assert learning_rate(section, 512, 1, 0.0) == pytest.approx(512**-0.5 * 4000**-1.5)
    assert learning_rate(section, 512, 4000, 0.04) == pytest.approx(0.00069877, rel=1e-4)
    assert learning_rate(section, 512, 100_000, 1.0) == pytest.approx(0.00013975, rel=1e-4)
    assert learning_rate(section, 1024, 4000, 0.0) == pytest.approx((1024 * 4000) ** -0.5)


def test_noam_rises_in_a_line_and_falls_with_the_root() -> None:
    assert equation_3(2000, 512, 4000) == pytest.approx(equation_3(4000, 512, 4000) / 2)
    assert equation_3(16_000, 512, 4000) == pytest.approx(equation_3(4000, 512, 4000) / 2)


def test_a_peak_scales_noam_and_keeps_its_shape() -> None:
    scaled = TrainingSection(peak=0.002, warmup=100)
    plain = TrainingSection(warmup=100)
    assert learning_rate(scaled, 64, 100, 0.0) == pytest.approx(0.002)
    for update in (1, 50, 100, 5000):
        ratio = learning_rate(scaled, 64, update, 0.0) / learning_rate(plain, 64, update, 0.0)
        assert ratio == pytest.approx(0.002 / equation_3(100, 64, 100))


def test_the_inverse_square_root_peaks_at_the_peak_whatever_the_width() -> None:
    section = TrainingSection(schedule="inverse-sqrt", peak=0.001, warmup=100)
    for d_model in (64, 512):
        assert learning_rate(section, d_model, 50, 0.0) == pytest.approx(0.0005)
        assert learning_rate(section, d_model, 100, 0.0) == pytest.approx(0.001)
        assert learning_rate(section, d_model, 400, 0.0) == pytest.approx(0.0005)


def test_cosine_falls_to_0_at_the_end_of_the_budget() -> None:
    section = TrainingSection(schedule="cosine", peak=0.003, warmup=10)
    assert learning_rate(section, 64, 10, 0.0) == pytest.approx(0.003)
    assert learning_rate(section, 64, 505, 0.505) == pytest.approx(0.0015)  # halfway from the end of the warm-up
    assert learning_rate(section, 64, 1000, 1.0) == pytest.approx(0.0, abs=1e-12)
    assert learning_rate(section, 64, 5, 0.0) == pytest.approx(0.0015)


@pytest.mark.parametrize("updates", [1000, 601])
def test_cosine_reaches_its_peak_at_the_end_of_the_warm_up(updates: int) -> None:
    section = TrainingSection(schedule="cosine", peak=0.003, warmup=300, updates=updates)
    rates = [learning_rate(section, 64, update, update / updates) for update in range(1, updates + 1)]
    assert max(rates) == rates[299] == pytest.approx(0.003)
    assert rates[:300] == sorted(rates[:300])
    assert rates[299:] == sorted(rates[299:], reverse=True)
    assert rates[-1] == pytest.approx(0.0, abs=1e-12)


def test_a_trapezoid_stays_at_its_peak_and_falls_to_0_in_a_line() -> None:
    section = TrainingSection(schedule="trapezoid", peak=0.003, warmup=10)
    assert learning_rate(section, 64, 5, 0.005) == pytest.approx(0.0015)
    rates = [learning_rate(section, 64, update, update / 1000) for update in (10, 100, 250, 500, 750, 1000)]
    assert rates == pytest.approx([0.003, 0.003, 0.003, 0.002, 0.001, 0.0])


@pytest.mark.parametrize("schedule", FALLING)
@pytest.mark.parametrize("updates", [400, 100, 10])
def test_a_budget_too_short_for_the_warm_up_has_its_peak_in_the_middle(schedule: str, updates: int) -> None:
    section = TrainingSection(schedule=schedule, peak=0.003, warmup=300, updates=updates)
    rates = [learning_rate(section, 64, update, update / updates) for update in range(1, updates + 1)]
    half = updates // 2
    assert max(rates) == rates[half - 1] == pytest.approx(0.003)
    assert rates[:half] == sorted(rates[:half])
    assert rates[half - 1 :] == sorted(rates[half - 1 :], reverse=True)
    assert rates[-1] == pytest.approx(0.0, abs=1e-12)


def test_constant_stays_at_the_peak_after_the_warm_up() -> None:
    section = TrainingSection(schedule="constant", peak=0.003, warmup=10)
    assert [learning_rate(section, 64, update, 0.9) for update in (1, 10, 999)] == pytest.approx([0.0003, 0.003, 0.003])


@pytest.mark.parametrize("schedule", ["noam", "inverse-sqrt", "cosine", "trapezoid", "constant"])
def test_every_schedule_rises_through_the_warm_up(schedule: str) -> None:
    section = TrainingSection(schedule=schedule, peak=0.01, warmup=20)
    rates = [learning_rate(section, 64, update, update / 10_000) for update in range(1, 21)]
    assert rates == sorted(rates)
    assert rates[0] == pytest.approx(0.01 / 20, rel=1e-3)
    assert rates[-1] == pytest.approx(0.01, rel=1e-3)
