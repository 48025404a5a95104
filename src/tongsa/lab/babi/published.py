"""Errors that the paper reports (Sukhbaatar et al. 2015, Table 1): test, in percent, 1,000 training questions a task.

PE: position encoding, LS: linear start, RN: random noise, LW: layer-wise tying; all with three hops unless said.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column of Table 1."""

    name: str
    joint: bool
    hops: int
    tying: str
    noise: bool
    errors: tuple[float, ...]
    """Of tasks 1 to 20."""
    mean: float
    """As printed there."""


# fmt: off
TABLE_1 = (
    Column("3 hops PE LS", False, 3, "adjacent", False, (
        0.2, 12.8, 58.8, 11.6, 15.7, 8.7, 20.3, 12.7, 17.0, 18.6, 0.0, 0.1, 0.3, 2.0, 0.0, 1.6, 49.0, 10.1, 85.6, 0.0,
    ), 16.3),
    Column("3 hops PE LS RN", False, 3, "adjacent", True, (
        0.0, 8.3, 40.3, 2.8, 13.1, 7.6, 17.3, 10.0, 13.2, 15.1, 0.9, 0.2, 0.4, 1.7, 0.0, 1.3, 51.0, 11.1, 82.8, 0.0,
    ), 13.9),
    Column("1 hop PE LS joint", True, 1, "adjacent", False, (
        0.8, 62.0, 76.9, 22.8, 11.0, 7.2, 15.9, 13.2, 5.1, 10.6, 8.4, 0.4, 6.3, 36.9, 46.4, 47.4, 44.4, 9.6, 90.7, 0.0,
    ), 25.8),
    Column("2 hops PE LS joint", True, 2, "adjacent", False, (
        0.0, 15.6, 31.6, 2.2, 13.4, 2.3, 25.4, 11.7, 2.0, 5.0, 1.2, 0.0, 0.2, 8.1, 0.5, 51.3, 41.2, 10.3, 89.9, 0.1,
    ), 15.6),
    Column("3 hops PE LS joint", True, 3, "adjacent", False, (
        0.1, 14.0, 33.1, 5.7, 14.8, 3.3, 17.9, 10.1, 3.1, 6.6, 0.9, 0.3, 1.4, 8.2, 0.0, 3.5, 44.5, 9.2, 90.2, 0.0,
    ), 13.3),
    Column("3 hops PE LS RN joint", True, 3, "adjacent", True, (
        0.0, 11.4, 21.9, 13.4, 14.4, 2.8, 18.3, 9.3, 1.9, 6.5, 0.3, 0.1, 0.2, 6.9, 0.0, 2.7, 40.4, 9.4, 88.0, 0.0,
    ), 12.4),
    Column("3 hops PE LS LW joint", True, 3, "layerwise", False, (
        0.1, 18.8, 31.7, 17.5, 12.9, 2.0, 10.1, 6.1, 1.5, 2.6, 3.3, 0.0, 0.5, 2.0, 1.8, 51.0, 42.6, 9.2, 90.6, 0.2,
    ), 15.2),
)
# fmt: on


def nearest(*, joint: bool, hops: int, tying: str, noise: bool) -> Column | None:
    """The column trained in the same way; the one without noise where the paper has none with it."""
    alike = [c for c in TABLE_1 if (c.joint, c.hops, c.tying) == (joint, hops, tying)]
    return min(alike, key=lambda column: column.noise != noise, default=None)
