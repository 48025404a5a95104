"""Records a beam search of one sentence as a tree, for people who want to see how it went.

The search calls the recorder once per step, if it is given one; what it finds stays the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from tongsa.decoding.beam import Candidates, beam_search
from tongsa.decoding.search import Hypothesis, Search, Special, length_limits
from tongsa.models.contracts import Seq2Seq

LIKELIEST = 10
"""Tokens recorded of each distribution over the next token."""

Fate = Literal["kept", "pruned", "finished"]


class Likely(NamedTuple):
    token: int
    log_probability: float


@dataclass(kw_only=True)
class Node:
    """One token of a hypothesis; the first node is the start, and has no token."""

    parent: int
    """Index of the node before it; -1 for the start."""
    token: int
    length: int
    """Tokens up to this one."""
    log_probability: float
    """Sum over these tokens."""
    fate: Fate
    """Whether the search went on from here, left it, or set it aside as a whole translation."""
    next: list[Likely] = field(default_factory=list)
    """The likeliest tokens after it, best first, where the search went on."""


@dataclass(frozen=True)
class BeamTree:
    """All candidates of a beam search (2 x beam a step), and what became of them; parents come before children."""

    nodes: list[Node]
    found: list[Hypothesis]
    """The finished hypotheses, best first."""
    search: Search

    def ids(self, node: int) -> list[int]:
        """The tokens up to a node."""
        tokens: list[int] = []
        while self.nodes[node].parent >= 0:
            tokens.append(self.nodes[node].token)
            node = self.nodes[node].parent
        return tokens[::-1]


class Recorder:
    """Builds the tree, step by step."""

    def __init__(self, end: int) -> None:
        self.end = end
        self.nodes = [Node(parent=-1, token=end, length=0, log_probability=0.0, fate="kept")]
        self._rows: list[int | None] = [0]
        """The node of each hypothesis of the beam; None for one that only fills up the beam, and can never win."""
        self._finished = 0

    def __call__(self, length: int, following: Tensor, best: Candidates, kept: Candidates) -> None:
        """Add the candidates of a step; `following` (beam, vocabulary) are the log-probabilities that it saw."""
        likeliest = following.topk(min(LIKELIEST, following.shape[1]), dim=1)
        for row, node in enumerate(self._rows):
            if node is None:
                continue
            pairs = zip(likeliest.indices[row].tolist(), likeliest.values[row].tolist(), strict=True)
            self.nodes[node].next = [Likely(token, log_p) for token, log_p in pairs if log_p > -math.inf]
        beam = kept.parent.shape[1]
        going_on = list(zip(kept.parent[0].tolist(), kept.token[0].tolist(), kept.log_p[0].tolist(), strict=True))
        places: dict[tuple[int, int], int] = {}
        for rank, (log_p, parent, token) in enumerate(zip(*(each[0].tolist() for each in best), strict=True)):
            before = self._rows[parent] if parent < len(self._rows) else None
            if before is None or log_p == -math.inf:
                continue
            fate: Fate = "kept" if (parent, token, log_p) in going_on else "pruned"
            if token == self.end:
                ends = rank < beam and self._finished < beam
                fate = "finished" if ends else "pruned"
                self._finished += ends
            places[parent, token] = len(self.nodes)
            self.nodes.append(Node(parent=before, token=token, length=length, log_probability=log_p, fate=fate))
        self._rows = [places[parent, token] if log_p > -math.inf else None for parent, token, log_p in going_on]


@torch.inference_mode()
def record_beam(model: Seq2Seq, source: Tensor, source_mask: Tensor, search: Search, special: Special) -> BeamTree:
    """Search for the translation of one source (1, positions), and return the tree with all finished hypotheses."""
    recorder = Recorder(special.end)
    limits = length_limits(source_mask.sum(dim=1), search, model.max_length)
    every = replace(search, nbest=search.beam, sampling=None)
    found = beam_search(model, model.encode(source, source_mask), limits, every, special, recorder=recorder)
    return BeamTree(recorder.nodes, found[0], search)
