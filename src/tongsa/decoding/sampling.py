"""Sampling: draw each token from the model's distribution, possibly sharpened or restricted to the likeliest tokens."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tongsa.decoding.constraints import Constraint
from tongsa.decoding.greedy import begin, walk
from tongsa.decoding.search import Hypothesis, Sampling, Special
from tongsa.models.contracts import Decoder, Tree, repeat


def sample(
    model: Decoder,
    memory: Tree,
    limits: Tensor,
    sampling: Sampling,
    draws: int,
    special: Special,
    prompts: Tensor | None = None,
    constraint: Constraint | None = None,
) -> list[list[Hypothesis]]:
    """Draw `draws` independent samples per row, the likeliest first."""
    generator = torch.Generator(device=limits.device).manual_seed(sampling.seed)

    def choose(log_p: Tensor) -> Tensor:
        # Shift the maximum to 0, so that no temperature can overflow.
        sharpened = (log_p - log_p.amax(dim=-1, keepdim=True)) / sampling.temperature
        cut = keep_top_p(keep_top_k(sharpened, sampling.top_k), sampling.top_p)
        return torch.multinomial(torch.softmax(cut, dim=-1), 1, generator=generator)[:, 0]

    # Samples are ranked by probability, without length penalty (alpha 0).
    again = None if prompts is None else prompts.repeat_interleave(draws, dim=0)
    state, tokens = begin(model, repeat(memory, draws), draws * len(limits), special, again)
    within = constraint and (lambda log_p, rows, written: constraint(log_p, [row // draws for row in rows], written))
    found = walk(model, state, tokens, limits.repeat_interleave(draws), choose, 0.0, special, within)
    groups = [found[first : first + draws] for first in range(0, len(found), draws)]
    return [sorted(group, key=lambda hypothesis: -hypothesis.score) for group in groups]


def keep_top_k(scores: Tensor, k: int) -> Tensor:
    """Set all but the k highest of each row to -inf."""
    if k == 0 or k >= scores.shape[-1]:
        return scores
    threshold = scores.topk(k, dim=-1).values[..., -1:]
    return scores.masked_fill(scores < threshold, -math.inf)


def keep_top_p(scores: Tensor, p: float) -> Tensor:
    """Keep the fewest tokens of each row whose probabilities sum to at least p; set the others to -inf."""
    if p >= 1:
        return scores
    ordered, places = scores.sort(dim=-1, descending=True)
    probabilities = torch.softmax(ordered, dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities  # total probability of the likelier tokens
    outside = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, places, before >= p)
    return scores.masked_fill(outside, -math.inf)
