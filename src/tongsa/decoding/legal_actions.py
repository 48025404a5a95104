"""A constraint for parsing: only actions that lead to a tree over exactly the words of the sentence.

The state of a parser is counted from what has been written, for all hypotheses at once: words taken, constituents that
are open, constituents begun since the last word. So every finished hypothesis is a tree; nothing has to be repaired.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from tongsa.data.linearisations import CLOSE, Linearisation, takes_word

MOST_BEGUN = 8
"""Constituents that may begin between two words; in the 10,224 trees of GUM there are at most 6."""


class LegalActions:
    """The legal next actions of sentences of `words` words, in at most `limits` tokens including the end."""

    def __init__(
        self,
        linearisation: Linearisation,
        actions: Sequence[str],
        end: int,
        words: Sequence[int],
        limits: Sequence[int],
    ) -> None:
        """`actions` is the vocabulary: the action of each id, or another string that is never legal."""
        self.in_order = linearisation.name == "in-order"
        self.close, self.end = actions.index(CLOSE), end
        self.takes = torch.tensor([takes_word(action) for action in actions])
        begins = [action.startswith(linearisation.opening) and len(action) > 1 for action in actions]
        self.begins = torch.tensor(begins)
        self.words = torch.tensor(words)
        self.limits = torch.tensor(limits)

    def __call__(self, log_p: Tensor, rows: Sequence[int], written: Tensor) -> Tensor:
        legal = self.legal(torch.tensor(rows), written.long().cpu()).to(log_p.device)
        return log_p.masked_fill(~legal, -math.inf)

    def legal(self, rows: Tensor, written: Tensor) -> Tensor:
        """(rows, vocabulary): True for the actions that may follow what each row has written."""
        words, limits = self.words[rows], self.limits[rows]
        begins, shifts = self.begins[written], self.takes[written]
        taken = shifts.sum(dim=1)
        begun = begins.sum(dim=1)
        depth = begun - (written == self.close).sum(dim=1)
        since = begun - (begins.cumsum(dim=1) * shifts).amax(dim=1) if written.shape[1] else begun
        last = written[:, -1] if written.shape[1] else torch.full_like(taken, -1)
        took = self.takes[last.clamp(min=0)] & (last >= 0)
        left = words - taken
        # Room for one more token: to finish takes the words left, the ends of open constituents, and the end itself.
        room = limits - written.shape[1] - 1 - left - depth - 1
        may_grow = (room >= 1) & (since < MOST_BEGUN)
        if self.in_order:
            completed = took | (last == self.close)
            may_shift = (left > 0) & ((depth > 0) | (taken == 0))
            may_begin = completed & (may_grow | ((depth == 0) & ((left > 0) | took)))
            may_close = (depth > 1) | ((depth == 1) & ((left == 0) | (may_grow & (room >= 2))))
        else:
            may_shift = (left > 0) & (depth > 0)
            may_begin = (left > 0) & ((may_grow & (depth > 0)) | (written.shape[1] == 0))
            may_close = (depth > 0) & ~self.begins[last.clamp(min=0)] & ((depth > 1) | (left == 0))
        legal = (may_begin[:, None] & self.begins) | (may_shift[:, None] & self.takes)
        legal[:, self.close] = may_close
        legal[:, self.end] = (depth == 0) & (left == 0) & (last == self.close)
        return legal
