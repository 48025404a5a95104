"""Table 1 of the paper, with numbers for the compared models.

The formulas are per layer (config/complexity.py). The numbers beside them are their values for a test sentence of mean
length n and the model's d and k: orders of growth, like the formulas. The range that an encoder sees is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tongsa.config import ModelSection

UNKNOWN = "–"
"""Shown if an architecture does not declare its complexity."""


class Order(NamedTuple):
    """O(formula), and the value of the formula for this model."""

    formula: str
    value: float


@dataclass(frozen=True, kw_only=True)
class Row:
    """A model's row of the table; the orders are None if its architecture does not declare them."""

    name: str
    kind: str
    layers: str
    """Number of layers in the encoder and in the decoder."""
    d: int
    k: int | None = None
    complexity: Order | None = None
    sequential: Order | None = None
    path: Order | None = None
    decoder_path: str
    """Path length from a source position to a target position."""
    sees: str
    """Number of source positions that one output of the encoder depends on."""


def row(name: str, section: ModelSection, n: float) -> Row:
    facts = section.facts(n)
    if facts is None:
        return Row(name=name, kind="unknown", layers=UNKNOWN, d=section.d_model, decoder_path=UNKNOWN, sees=UNKNOWN)
    layer, width = facts.kind, float(facts.k or 1)
    return Row(
        name=name,
        kind=layer.name,
        layers=facts.layers,
        d=facts.d,
        k=facts.k,
        complexity=Order(layer.complexity, layer.operations(n, facts.d, width)),
        sequential=Order(layer.sequential, layer.steps(n, width)),
        path=Order(layer.path, layer.longest(n, width)),
        decoder_path=facts.decoder_path,
        sees="all" if facts.sees is None else f"{facts.sees:,} positions",
    )
