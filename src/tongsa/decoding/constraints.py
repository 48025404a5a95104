"""Constraints: which tokens may follow what has been written.

A constraint is called at each step of a search with the log-probabilities of the next token, and returns them with -inf
for the tokens that may not follow; those of the others stay the model's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import zip_longest

import torch
from torch import Tensor

Constraint = Callable[[Tensor, Sequence[int], Tensor], Tensor]
"""(log-probabilities (rows, vocabulary), index of each row's sentence in the batch, tokens written so far (rows,
length)) -> log-probabilities. Several rows may belong to one sentence."""


class Prefixes:
    """Each sentence begins with given tokens."""

    def __init__(self, prefixes: Sequence[Sequence[int]], device: torch.device) -> None:
        columns = list(zip_longest(*prefixes, fillvalue=-1))
        self._columns = [torch.tensor(column, device=device) for column in columns]

    def __call__(self, log_p: Tensor, rows: Sequence[int], written: Tensor) -> Tensor:
        if written.shape[1] >= len(self._columns):
            return log_p
        token = self._columns[written.shape[1]][list(rows)][:, None]
        others = torch.arange(log_p.shape[1], device=log_p.device) != token
        return log_p.masked_fill(others & (token >= 0), -math.inf)
