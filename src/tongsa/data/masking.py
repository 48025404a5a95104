"""Masked tokens for BERT (Devlin et al. 2019, §3.1): which are to be predicted, and what is shown in their place."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from tongsa.text.subwords import Vocabulary

SHARE = 0.15
"""Share of the tokens that are predicted."""
AS_MASK, AT_RANDOM = 0.8, 0.1
"""Shares of these that are shown as [MASK], and as a random token; the others are shown as they are."""


class BertTokens(NamedTuple):
    """Ids of the tokens that a model has beyond the pieces of its vocabulary."""

    first: int
    """[CLS], which every text begins with."""
    mask: int
    """[MASK]"""
    pad: int

    @classmethod
    def beyond(cls, vocabulary: Vocabulary) -> BertTokens:
        return cls(vocabulary.pad, vocabulary.pad + 1, vocabulary.pad + 2)

    @property
    def size(self) -> int:
        """Rows of an embedding table."""
        return self.pad + 1


class Masked(NamedTuple):
    """A batch (texts, positions) with some tokens to predict."""

    source: Tensor
    """What the model reads."""
    mask: Tensor
    """True where there is a token."""
    chosen: Tensor
    """True where a token is to be predicted."""
    labels: Tensor
    """The tokens before masking."""

    def to(self, device: torch.device) -> Masked:
        return Masked(*(tensor.to(device, non_blocking=True) for tensor in self))


def mask_tokens(pieces: Tensor, tokens: BertTokens, generator: torch.Generator) -> Masked:
    """Put [CLS] before pieces (texts, positions) of ids, padded with `tokens.pad`, and mask some of them."""
    labels = torch.cat([pieces.new_full((len(pieces), 1), tokens.first), pieces], dim=1)
    real = labels != tokens.pad
    may = real & (labels != tokens.first)
    chosen = may & (torch.rand(labels.shape, generator=generator) < SHARE)
    if not bool(chosen.any()):  # of a very short text; a loss needs something to be a mean of
        chosen.view(-1)[may.view(-1).nonzero()[:1, 0]] = True
    how = torch.rand(labels.shape, generator=generator)
    others = torch.randint(tokens.first, labels.shape, generator=generator)
    source = torch.where(chosen & (how < AS_MASK), tokens.mask, labels)
    source = torch.where(chosen & (how >= AS_MASK) & (how < AS_MASK + AT_RANDOM), others, source)
    return Masked(source, real, chosen, labels)
