"""Options of a search, and its results. Needs no torch."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tongsa.base.errors import UsageError
from tongsa.config import DecodingSection
from tongsa.config.sections import MAX_BEAM, MAX_LENGTH_PENALTY

if TYPE_CHECKING:
    import torch
    from torch import Tensor

MAX_DRAWN_BEAM = 10
"""Hypotheses of a beam that is drawn as a tree; a translator's own beam is narrowed to so many."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Draw tokens instead of searching for the likeliest ones."""

    temperature: float = 1.0
    """Below 1 sharpens the distribution, above 1 flattens it."""
    top_k: int = 0
    """Draw from the k likeliest tokens (0: from all)."""
    top_p: float = 1.0
    """Draw from the fewest tokens whose total probability is at least this."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.temperature < math.inf or self.top_k < 0 or not 0 < self.top_p <= 1:
            raise UsageError(
                "sampling needs a temperature above 0, a top-k of at least 0 and a top-p above 0 and at most 1",
                f"Given: temperature {self.temperature}, top-k {self.top_k}, top-p {self.top_p}.",
            )


@dataclass(frozen=True, kw_only=True)
class Search:
    """Options of a search; the defaults are the paper's (§6.1)."""

    beam: int = 4
    length_penalty: float = 0.6
    nbest: int = 1
    """Number of hypotheses to return per source."""
    max_extra: int = 50
    max_ratio: float = 1.0
    sampling: Sampling | None = None
    scores: bool = True
    """Compute scores. Without them scores are NaN, and greedy search is faster: CTranslate2 skips the softmax."""
    alignment: bool = False
    """Also return the source token that each target token aligns to."""

    def __post_init__(self) -> None:
        if self.beam < 1 or self.nbest < 1:
            raise UsageError(f"beam and nbest must be at least 1, not {self.beam} and {self.nbest}")
        if max(self.beam, 0 if self.sampling else self.nbest) > MAX_BEAM:
            raise UsageError(f"beam and nbest must be at most {MAX_BEAM:,}, not {self.beam} and {self.nbest}")
        if not -MAX_LENGTH_PENALTY <= self.length_penalty <= MAX_LENGTH_PENALTY:
            raise UsageError(f"the length penalty must be at most {MAX_LENGTH_PENALTY}, not {self.length_penalty}")

    @property
    def in_words(self) -> str:
        """The kind of search, for readers of scores: `greedy`, or `beam 4, length penalty 0.6`."""
        if self.sampling:
            return "sampling"
        return "greedy" if self.beam == 1 else f"beam {self.beam}, length penalty {self.length_penalty:g}"

    @classmethod
    def of(cls, section: DecodingSection) -> Search:
        return cls(
            beam=section.beam,
            length_penalty=section.length_penalty,
            max_extra=section.max_extra,
            max_ratio=section.max_ratio,
        )


class Special(NamedTuple):
    """Special ids needed by a search."""

    start: int
    """`<pad>`, which the decoder starts from."""
    end: int
    unwritable: Collection[int] = ()
    """Pieces that are never written."""

    def unwritable_ids(self, device: torch.device) -> Tensor:
        import torch

        return torch.tensor(sorted(self.unwritable), dtype=torch.long, device=device)


class Hypothesis(NamedTuple):
    ids: list[int]
    """The target's tokens, without the end."""
    log_probability: float
    """Sum over the tokens and the end."""
    score: float
    """Log-probability divided by the length penalty; hypotheses are ranked by it."""
    ended: bool = True
    """False if the length limit cut it off."""
    note: str = ""
    """A note for the user: the source was cut, or another engine was used."""
    alignment: tuple[int, ...] = ()
    """Source position for each token, if requested and if the model has attention."""


def length_penalty(length: Tensor | float, alpha: float) -> Tensor | float:
    """lp(Y) = ((5 + |Y|) / 6)^alpha, where |Y| counts the end too                (Wu et al. 2016, Eq. 14; §6.1)"""
    return ((5.0 + length) / 6.0) ** alpha


def length_limits(source_lengths: Tensor, search: Search, longest: int | None) -> Tensor:
    """(batch): `length_limit` of each source."""
    # Computed with Python's floats, so that both engines stop at the same token.
    limits = (source_lengths.double() * search.max_ratio).long() + search.max_extra + 1
    return limits if longest is None else limits.clamp(max=longest)


def length_limit(source_length: int, search: Search, longest: int | None) -> int:
    """Return the maximum length of an output; both lengths include the end."""
    limit = int(source_length * search.max_ratio) + search.max_extra + 1
    return limit if longest is None else min(limit, longest)


def most_attended(weights: Sequence[Sequence[float]]) -> tuple[int, ...]:
    """Return the source position with the most attention for each target token; nothing if there is no source.

    A row of weights is the attention of the step that writes a token, averaged over the heads of one layer of the
    decoder. The end of the source absorbs surplus attention, so callers leave it out.
    """
    return tuple(max(range(len(row)), key=row.__getitem__) for row in weights if row)


DEEP = 6
"""Number of layers from which a decoder aligns in its last layer but one."""


def aligning_layer(layers: int) -> int:
    """Return the decoder layer that aligns best with the source: the last one, or with six or more layers the last but
    one, as Garg et al. 2019 found and docs/attention.md measures."""
    return layers - 1 if layers < DEEP else layers - 2
