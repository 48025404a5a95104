"""What every engine does, and what engines share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def similar_lengths(lengths: Sequence[int], budget: int, most: int | None = None) -> Iterator[list[int]]:
    """Batches of places, longest first, each with at most `budget` tokens once padded, and at most `most` sentences."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and ((len(batch) + 1) * lengths[batch[0]] > budget or len(batch) == most):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def cut_note(longest: int) -> str:
    """For a source longer than the positions that were learnt."""
    return f"source cut after {longest - 1:,} subwords"
