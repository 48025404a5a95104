"""The search that was asked for, on one batch."""

from __future__ import annotations

import torch
from torch import Tensor

from tongsa.decoding.beam import beam_search
from tongsa.decoding.greedy import greedy
from tongsa.decoding.sampling import sample
from tongsa.decoding.search import Hypothesis, Search, Special, length_limits
from tongsa.models.contracts import Seq2Seq


@torch.inference_mode()
def decode(
    model: Seq2Seq, source: Tensor, source_mask: Tensor, search: Search, special: Special
) -> list[list[Hypothesis]]:
    """The best hypotheses of each source of a batch, best first."""
    memory = model.encode(source, source_mask)
    limits = length_limits(source_mask.sum(dim=1), search, model.max_length)
    if search.sampling:
        return sample(model, memory, limits, search.sampling, search.nbest, special)
    if search.beam == 1 and search.nbest == 1:
        return greedy(model, memory, limits, search.length_penalty, special)
    return beam_search(model, memory, limits, search, special)
