"""Repetition loops: a model may write the same phrase over and over instead of ending."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tongsa.text.breakage import repeats

REPETITION_CUT, LENGTH_LIMIT = "repetition cut", "length limit"
"""Notes on a translation that had a loop at its end, and on one that the length limit cut off."""


def cut_repetition(
    ids: Sequence[int], source: Iterable[int], times: int = 4, longest: int = 12
) -> tuple[list[int], bool]:
    """Cut a loop at the end: a phrase repeated at least `times` times in a row is kept once.

    If the source itself is repetitive, its translation may be too, and is left unchanged.
    """
    output = list(ids)
    found = _loop(output, times, longest)
    if not found or repeats(list(source), times, longest):
        return output, False
    first, period = found
    return output[: first + period], True


def _loop(ids: list[int], times: int, longest: int) -> tuple[int, int] | None:
    """Return where the last tokens begin to repeat, and the period."""
    for period in range(1, longest + 1):
        first = len(ids) - period
        while first > 0 and ids[first - 1] == ids[first - 1 + period]:
            first -= 1
        if len(ids) - first >= times * period:
            return first, period
    return None
