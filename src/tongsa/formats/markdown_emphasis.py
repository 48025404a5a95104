"""Emphasis of Markdown: which runs of `*`, `_` and `~~` belong together, by the rules of CommonMark (section 6.2).

The search for an opening run never looks twice at runs that cannot match, so the time is linear.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field


@dataclass
class Run:
    """A run of equal delimiters."""

    sign: str
    length: int
    can_open: bool
    can_close: bool
    left: int = 0
    """Delimiters that have not been matched, and are text."""
    opens: list[tuple[int, int]] = field(default_factory=list)
    """(length, number of the pair) for each matched opening, the innermost first."""
    closes: list[tuple[int, int]] = field(default_factory=list)
    """The same for closings, from left to right."""

    @classmethod
    def of(cls, raw: str, before: str, after: str) -> Run:
        """`before` and `after` are the characters beside the run; the edge of a text counts as a blank."""
        blank_before, blank_after = not before or before.isspace(), not after or after.isspace()
        mark_before, mark_after = _is_punctuation(before), _is_punctuation(after)
        left = not blank_after and (not mark_after or blank_before or mark_before)
        right = not blank_before and (not mark_before or blank_after or mark_after)
        if raw[0] == "_":
            return cls("_", len(raw), left and (not right or mark_before), right and (not left or mark_after), len(raw))
        return cls(raw[0], len(raw), left, right, len(raw))


def _is_punctuation(character: str) -> bool:
    return bool(character) and unicodedata.category(character)[0] in "PS"


def matched(runs: list[Run]) -> None:
    """Match closing with opening runs; the results are in the runs."""
    stack: list[Run] = []
    """Runs that may open, from left to right."""
    bottoms: dict[tuple[str, int, bool], int] = {}
    """Below this height of the stack, no run can open for closings of this kind."""
    pair = 0
    for run in runs:
        while run.can_close and run.left:
            kind = (run.sign, run.length % 3, run.can_open)
            at = len(stack) - 1
            while at >= min(bottoms.get(kind, 0), len(stack)) and not _fits(stack[at], run):
                at -= 1
            if at < min(bottoms.get(kind, 0), len(stack)):
                bottoms[kind] = len(stack)
                break
            opening = stack[at]
            length = 2 if min(opening.left, run.left) >= 2 else 1
            opening.opens.append((length, pair))
            run.closes.append((length, pair))
            opening.left -= length
            run.left -= length
            pair += 1
            del stack[at + 1 :]
            if not opening.left:
                stack.pop()
            bottoms = {key: min(height, len(stack)) for key, height in bottoms.items()}
        if run.can_open and run.left:
            stack.append(run)


def _fits(opening: Run, closing: Run) -> bool:
    if opening.sign != closing.sign:
        return False
    if closing.sign == "~":
        return True
    either = opening.can_close or closing.can_open
    return not either or (opening.length + closing.length) % 3 != 0 or opening.length % 3 == closing.length % 3 == 0
