"""What the engines share: sentences shared out into batches, and a word about those that are too long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


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
