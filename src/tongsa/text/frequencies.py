"""How frequent each piece is in the training text: one byte per piece, kept beside the vocabulary.

Text unlike the training text consists of rarer pieces, whatever the reason: another domain, another language, names,
misspellings. The familiarity of a text is the mean log frequency of its pieces, less that of the training text itself:
0 for usual text, -2 if a piece is e^2 times as rare on average.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a translator that is compiled starts without it
    import numpy as np
    from numpy.typing import NDArray

STEPS = 8
"""Frequencies are stored as -log2 of them in steps of 1/8: the largest byte is 2^-32, and the error at most 4.4%."""
BLOCK = 1 << 22
"""Ids counted at a time."""


class PieceFrequencies:
    """Relative frequencies of the pieces of one vocabulary."""

    def __init__(self, content: bytes) -> None:
        """`content` has a byte for each piece, as `count` makes it."""
        self.content = content

    def __len__(self) -> int:
        return len(self.content)

    @classmethod
    def count(cls, ids: NDArray[np.integer], size: int) -> PieceFrequencies:
        """Count the ids of a text; pieces that never occur count as half an occurrence."""
        import numpy as np

        counts = np.full(size, 0.5)
        for first in range(0, len(ids), BLOCK):  # a block at a time: the ids of a large corpus stay on disk
            counts += np.bincount(ids[first : first + BLOCK], minlength=size)
        return cls(_packed(counts / counts.sum()))

    def joined(self, other: PieceFrequencies) -> PieceFrequencies:
        """Combine with the text that the model was trained on before: a piece counts where it is more frequent."""
        return PieceFrequencies(bytes(map(min, self.content, other.content)))

    @cached_property
    def _logs(self) -> list[float]:
        """The log frequency of each piece, less the mean over the training text."""
        logs = [-math.log(2) / STEPS * byte for byte in self.content]
        shares = [math.exp(log) for log in logs]
        usual = sum(map(float.__mul__, shares, logs)) / sum(shares) if logs else 0.0
        return [log - usual for log in logs]

    def familiarity(self, ids: Sequence[int]) -> float:
        """Return the mean log frequency of these pieces, less that of the training text; 0 for no pieces."""
        return sum(map(self._logs.__getitem__, ids)) / len(ids) if ids else 0.0


def _packed(shares: NDArray[np.float64]) -> bytes:
    import numpy as np

    return bytes(np.clip(np.rint(-STEPS * np.log2(shares)), 0, 255).astype(np.uint8))
