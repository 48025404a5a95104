"""Loops: a model that does not find its end may write the same phrase over and over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def cut_repetition(
    ids: Sequence[int], source: Iterable[int], times: int = 4, longest: int = 12
) -> tuple[list[int], bool]:
    """Cut a loop at the end: a phrase written `times` times in a row, or more, stays once.

    A source that itself says something over and over may have a translation that does, so it is left alone.
    """
    output = list(ids)
    found = _loop(output, times, longest)
    if not found or _repeats(list(source), times, longest):
        return output, False
    first, period = found
    return output[: first + period], True


def _repeats(ids: list[int], times: int, longest: int) -> bool:
    """Whether a phrase stands `times` times in a row anywhere: the zeros of a million do, wherever it is written."""
    for period in range(1, longest + 1):
        run = 0
        for before, after in zip(ids, ids[period:], strict=False):
            run = run + 1 if before == after else 0
            if run >= (times - 1) * period:
                return True
    return False


def _loop(ids: list[int], times: int, longest: int) -> tuple[int, int] | None:
    """Where the last tokens begin to repeat, and with which period."""
    for period in range(1, longest + 1):
        first = len(ids) - period
        while first > 0 and ids[first - 1] == ids[first - 1 + period]:
            first -= 1
        if len(ids) - first >= times * period:
            return first, period
    return None
