"""Experiments with the systems of the paper, by name. Another package can add one with an entry point of the
group `tongsa.experiments`. May import everything below server/; torch only when an experiment runs."""

from __future__ import annotations

from tongsa.base.registry import Registry
from tongsa.lab.compare import COMPARE
from tongsa.lab.experiment import Experiment

EXPERIMENTS: Registry[Experiment] = Registry(
    "tongsa.experiments",
    {
        "compare": COMPARE,
    },
    kind="experiment",
)
