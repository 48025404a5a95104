"""How long a sentence a compiled model can take."""

from __future__ import annotations

from tongsa.config import TransformerSection

POSITIONS = 2048
"""Rows of the table of sinusoids: CTranslate2 cannot make it longer when a longer sentence comes."""


def longest(config: TransformerSection) -> int:
    """Positions that a compiled model has."""
    return config.max_positions if config.positions == "learned" else POSITIONS
