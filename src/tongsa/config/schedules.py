"""Learning rate schedules: pure functions of the recipe and the progress of the training."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tongsa.base.registry import Registry

if TYPE_CHECKING:
    from tongsa.config.sections import TrainingSection


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Progress of a training at one update."""

    update: int
    """Number of the update, counted from 1 at the beginning of the stage."""
    fraction: float
    """Fraction of the budget (updates or minutes) used up after this update."""
    d_model: int
    stage: int = 0
    """Number of the stage, for tasks whose training has several."""


Schedule = Callable[["TrainingSection", Moment], float]

LONGEST_WARM_UP = 0.5
"""Most of a budget that the warm-up of a cosine or a trapezoid takes."""

COOLDOWN = 0.75
"""Part of a budget in which a trapezoid falls."""


def noam(section: TrainingSection, moment: Moment) -> float:
    """Equation 3, scaled so that its highest rate is `training.peak` if that is set."""
    scale = section.peak / equation_3(section.warmup, moment.d_model, section.warmup) if section.peak else 1.0
    return equation_3(moment.update, moment.d_model, section.warmup) * scale


def equation_3(update: int, d_model: int, warmup: int) -> float:
    """d_model^-0.5 * min(step^-0.5, step * warmup^-1.5)                                           §5.3, Eq. 3"""
    return float(d_model**-0.5 * min(update**-0.5, update * warmup**-1.5))


def inverse_sqrt(section: TrainingSection, moment: Moment) -> float:
    return section.peak * min(_warm_up(section, moment), math.sqrt(section.warmup / moment.update))


def cosine(section: TrainingSection, moment: Moment) -> float:
    """Falls from the peak, at the end of the warm-up, to 0 at the end of the budget, in updates or in minutes.

    In a budget that is too short for it, the warm-up ends earlier.
    """
    warm = _warm_part(section, moment)
    fallen = max(0.0, moment.fraction - warm) / (1 - warm)
    return section.peak * _short_warm_up(section, moment) * (1 + math.cos(math.pi * min(1.0, fallen))) / 2


def trapezoid(section: TrainingSection, moment: Moment) -> float:
    """Stays at the peak after the warm-up, and then falls to 0 in a line: docs/decisions/0032."""
    falling = min(COOLDOWN, 1 - _warm_part(section, moment))
    return section.peak * min(_short_warm_up(section, moment), max(0.0, 1 - moment.fraction) / falling)


def constant(section: TrainingSection, moment: Moment) -> float:
    return section.peak * _warm_up(section, moment)


def annealed(section: TrainingSection, moment: Moment) -> float:
    """Halved after every quarter of the budget                                   Sukhbaatar et al. 2015, §4.2"""
    return section.peak * 0.5 ** min(3, int(4 * moment.fraction))


def linear_start(section: TrainingSection, moment: Moment) -> float:
    """Half of the peak in the first stage, in which a memory network has no softmax; then annealed."""
    return section.peak / 2 if moment.stage == 0 else annealed(section, moment)


def _warm_up(section: TrainingSection, moment: Moment) -> float:
    """Rises linearly from 0 to 1."""
    return min(1.0, moment.update / section.warmup)


def _warm_part(section: TrainingSection, moment: Moment) -> float:
    """Fraction of the budget that the warm-up takes; of minutes, as far as the speed so far tells."""
    return min(LONGEST_WARM_UP, moment.fraction * section.warmup / moment.update)


def _short_warm_up(section: TrainingSection, moment: Moment) -> float:
    """The warm-up, but of a part of the budget at most."""
    return max(_warm_up(section, moment), min(1.0, moment.fraction / LONGEST_WARM_UP))


SCHEDULES: Registry[Schedule] = Registry(
    "tongsa.schedules",
    {
        "noam": noam,
        "inverse-sqrt": inverse_sqrt,
        "cosine": cosine,
        "trapezoid": trapezoid,
        "constant": constant,
        "annealed": annealed,
        "linear-start": linear_start,
    },
    kind="schedule",
)

FALLING = ("cosine", "trapezoid")
"""Schedules that end with a rate of 0, whatever the budget is."""


def learning_rate(section: TrainingSection, moment: Moment) -> float:
    return SCHEDULES.find(section.schedule)(section, moment)
