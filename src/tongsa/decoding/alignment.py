"""Which source token each target token was written for: the one that most attention falls on.

Attention of the step that writes a token, over the heads of one layer of the decoder. The end of the source takes
attention that belongs nowhere, so it does not count.
"""

from __future__ import annotations

from collections.abc import Sequence


def most_attended(weights: Sequence[Sequence[float]]) -> tuple[int, ...]:
    """A source place for each row of weights; none where there is no source."""
    return tuple(max(range(len(row)), key=row.__getitem__) for row in weights if row)
