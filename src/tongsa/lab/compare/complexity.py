"""Table 1 of the paper, with the numbers of the models that are compared.

The formulas are those of a layer (config/complexity.py); the numbers beside them are what they give for a test sentence
of mean length n and this model's d and k, and are orders, as the formulas are. What a whole encoder can see is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tongsa.config import ModelSection

UNKNOWN = "–"
"""Stands where an architecture does not tell its facts."""


class Order(NamedTuple):
    """O(formula), and what the formula gives for this model."""

    formula: str
    value: float


@dataclass(frozen=True, kw_only=True)
class Row:
    """A model's line of the table; the orders are None where its architecture does not tell them."""

    name: str
    kind: str
    layers: str
    """Layers of encoder and decoder."""
    d: int
    k: int | None = None
    complexity: Order | None = None
    sequential: Order | None = None
    path: Order | None = None
    decoder_path: str
    """Path length from a source position to a target position."""
    sees: str
    """Source positions that one output of this encoder can see."""


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
