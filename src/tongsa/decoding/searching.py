"""Run the requested search on a batch of sources to translate, or of prompts to continue."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tongsa.decoding.beam import beam_search
from tongsa.decoding.constraints import Constraint, Prefixes
from tongsa.decoding.greedy import greedy
from tongsa.decoding.sampling import sample
from tongsa.decoding.search import Hypothesis, Search, Special, length_limits
from tongsa.models.contracts import NO_MEMORY, Decoder, Seq2Seq, Tree


@torch.inference_mode()
def decode(
    model: Seq2Seq,
    source: Tensor,
    source_mask: Tensor,
    search: Search,
    special: Special,
    *,
    prefixes: Sequence[Sequence[int]] = (),
    constraint: Constraint | None = None,
) -> list[list[Hypothesis]]:
    """Return the best hypotheses of each source of a batch, best first.

    With prefixes, each hypothesis begins with that of its source. Its probability includes the prefix.
    """
    memory = model.encode(source, source_mask)
    limits = length_limits(source_mask.sum(dim=1), search, model.max_length)
    if prefixes:
        assert constraint is None, "prefixes are a constraint themselves"
        limits = limits.max(torch.tensor([len(prefix) + 2 for prefix in prefixes], device=limits.device))
        constraint = Prefixes(prefixes, limits.device)
    return _search(model, memory, limits, search, special, None, constraint)


@torch.inference_mode()
def continue_prompts(
    model: Decoder, prompts: Tensor, longest: int, search: Search, special: Special
) -> list[list[Hypothesis]]:
    """Return the best continuations of each prompt (batch, length), best first, of at most `longest` tokens.

    `longest` includes the end; the model's own limit also applies. Hypotheses and probabilities cover the new tokens.
    """
    room = longest if model.max_length is None else min(longest, model.max_length - prompts.shape[1])
    limits = torch.full((len(prompts),), max(1, room), device=prompts.device)
    return _search(model, NO_MEMORY, limits, search, special, prompts)


def _search(
    model: Decoder,
    memory: Tree,
    limits: Tensor,
    search: Search,
    special: Special,
    prompts: Tensor | None,
    constraint: Constraint | None = None,
) -> list[list[Hypothesis]]:
    if search.sampling:
        return sample(model, memory, limits, search.sampling, search.nbest, special, prompts, constraint)
    if search.beam == 1 and search.nbest == 1:
        return greedy(model, memory, limits, search.length_penalty, special, prompts, constraint)
    return beam_search(model, memory, limits, search, special, prompts, constraint)
