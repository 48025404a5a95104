"""The contract of engines, and helpers that they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from tongsa.decoding.search import Hypothesis, Search

ENGINES = ("auto", "native", "ctranslate2")
PRECISIONS = ("auto", "int8", "float32")


class Engine(Protocol):
    """Computes translations from ids. Ids are given without the end, which the engine adds."""

    name: str

    @property
    def longest(self) -> int | None:
        """Most tokens of a target, including the end, if there is a limit."""

    def translate(
        self, sources: Sequence[Sequence[int]], search: Search, prefixes: Sequence[Sequence[int]] = ()
    ) -> list[list[Hypothesis]]:
        """Return the best hypotheses of each source, in the order of the sources.

        With prefixes, one for each source, all hypotheses of a source begin with its prefix; tokens, probabilities and
        alignments include it.
        """

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probabilities of the tokens of each target, and of its end."""


def scored_at_once(device: str) -> int:
    """Most tokens to score at a time: on a CPU, their scores for the whole vocabulary should fit into the cache."""
    return 512 if device == "cpu" else 4096


def similar_lengths(lengths: Sequence[int], budget: int, most: int | None = None) -> Iterator[list[int]]:
    """Yield batches of indices, longest first, each of at most `budget` padded tokens and `most` sentences."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and ((len(batch) + 1) * lengths[batch[0]] > budget or len(batch) == most):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def cut_note(longest: int) -> str:
    """Return the note for a source with more tokens than learned positions."""
    return f"source cut after {longest - 1:,} subwords"
