"""Engines: ids in, hypotheses out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tongsa.decoding.search import Hypothesis, Search

ENGINES = ("auto", "native", "ctranslate2")
PRECISIONS = ("auto", "int8", "float32")


class Engine(Protocol):
    """What a translator asks of whatever does the arithmetic. Ids are without the end; the engine adds it."""

    name: str

    def translate(self, sources: Sequence[Sequence[int]], search: Search) -> list[list[Hypothesis]]:
        """The best hypotheses of each source, in the order of the sources."""

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """The log-probability of each token of each target, and of its end."""
