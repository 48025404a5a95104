"""Repetition loops: a model may write the same phrase over and over instead of ending."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def cut_repetition(
    ids: Sequence[int], source: Iterable[int], times: int = 4, longest: int = 12
) -> tuple[list[int], bool]:
    """Cut a loop at the end: a phrase repeated at least `times` times in a row is kept once.

    If the source itself is repetitive, its translation may be too, and is left unchanged.
    """
    output = list(ids)
    found = _loop(output, times, longest)
    if not found or _repeats(list(source), times, longest):
        return output, False
    first, period = found
    return output[: first + period], True


def _repeats(ids: list[int], times: int, longest: int) -> bool:
    """Return True if a phrase occurs `times` times in a row anywhere, as the zeros of a million do."""
    for period in range(1, longest + 1):
        run = 0
        for before, after in zip(ids, ids[period:], strict=False):
            run = run + 1 if before == after else 0
            if run >= (times - 1) * period:
                return True
    return False


def _loop(ids: list[int], times: int, longest: int) -> tuple[int, int] | None:
    """Return where the last tokens begin to repeat, and the period."""
    for period in range(1, longest + 1):
        first = len(ids) - period
        while first > 0 and ids[first - 1] == ids[first - 1 + period]:
            first -= 1
        if len(ids) - first >= times * period:
            return first, period
    return None
