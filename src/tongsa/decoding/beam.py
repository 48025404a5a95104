"""Beam search: keeps and extends the best few hypotheses of each sentence.

A step takes the 2 x beam best extensions of each sentence. Those among the first `beam` that end are set aside as
finished; the best `beam` that do not end go on. A sentence is done when `beam` of its hypotheses have finished, or at
its limit of length, where only the end may follow. With beam 1 this is greedy search; with a beam as wide as the tree
it is exhaustive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from tongsa.decoding.constraints import Constraint
from tongsa.decoding.greedy import begin, log_probabilities
from tongsa.decoding.search import Hypothesis, Search, Special, length_penalty
from tongsa.models.contracts import Decoder, State, Tree, repeat, select


class Candidates(NamedTuple):
    """Extensions of each sentence's hypotheses (sentences, candidates), best first."""

    log_p: Tensor
    parent: Tensor
    """Index of the hypothesis that each candidate extends."""
    token: Tensor


Record = Callable[[int, Tensor, Candidates, Candidates], None]
"""Is told of each step: its length, the log-probabilities of the next token (rows, vocabulary), the candidates, and
those that go on."""


def beam_search(
    model: Decoder,
    memory: Tree,
    limits: Tensor,
    search: Search,
    special: Special,
    prompts: Tensor | None = None,
    constraint: Constraint | None = None,
    recorder: Record | None = None,
) -> list[list[Hypothesis]]:
    beam = max(search.beam, search.nbest)
    again = None if prompts is None else prompts.repeat_interleave(beam, dim=0)
    state, tokens = begin(model, repeat(memory, beam), beam * len(limits), special, again)
    sentences = list(range(len(limits)))  # indices of the sentences that are not done
    finished: list[list[Hypothesis]] = [[] for _ in sentences]
    log_p = starting_scores(len(limits), beam, limits.device)
    unwritable = special.unwritable_ids(limits.device)
    written = torch.empty(len(limits), beam, 0, dtype=torch.long, device=limits.device)
    for length in range(1, int(limits.max()) + 1):
        logits, state = model.step(tokens, state)
        at_limit = length >= limits
        following = log_probabilities(logits, unwritable)
        if constraint:
            rows_of = [sentence for sentence in sentences for _ in range(beam)]
            following = constraint(following, rows_of, written.flatten(0, 1))
        best = extend(log_p, following, at_limit, special.end)
        collect(best, written, sentences, finished, at_limit, length, search.length_penalty, special.end)
        log_p, parent, token = kept = going_on(best, beam, special.end)
        if recorder:
            recorder(length, following, best, kept)
        written = torch.cat([written.gather(1, parent[..., None].expand(-1, -1, length - 1)), token[..., None]], dim=2)
        open_ones = [i for i, s in enumerate(sentences) if len(finished[s]) < beam and not at_limit[i]]
        if not open_ones:
            break
        rows = parent + beam * torch.arange(len(sentences), device=limits.device)[:, None]
        if len(open_ones) < len(sentences):
            keep = torch.tensor(open_ones, device=limits.device)
            sentences = [sentences[i] for i in open_ones]
            log_p, written, token, limits, rows = (x[keep] for x in (log_p, written, token, limits, rows))
            state = State(select(state.memory, rows.flatten()), state.cache)
        # The hypotheses of a sentence share its memory, so only the cache must be reordered.
        state = State(state.memory, select(state.cache, rows.flatten()))
        tokens = token.flatten()
    return [sorted(group, key=lambda hypothesis: -hypothesis.score)[: search.nbest] for group in finished]


def starting_scores(sentences: int, beam: int, device: torch.device) -> Tensor:
    """Initial scores (sentences, beam): 0 for the first hypothesis, -inf for the others."""
    scores = torch.full((sentences, beam), -math.inf, device=device)
    scores[:, 0] = 0
    return scores


def extend(log_p: Tensor, following: Tensor, at_limit: Tensor, end: int) -> Candidates:
    """Return the 2 x beam best extensions of each sentence; at the length limit, only the end may follow.

    `following` are the log-probabilities (sentences x beam, vocabulary) of the next token.
    """
    sentences, beam = log_p.shape
    following = following.view(sentences, beam, -1)
    vocabulary = following.shape[-1]
    if bool(at_limit.any()):
        not_the_end = torch.arange(vocabulary, device=following.device) != end
        following = following.masked_fill(at_limit[:, None, None] & not_the_end, -math.inf)
    totals = (log_p[..., None] + following).flatten(1)
    best = totals.topk(min(2 * beam, totals.shape[1]), dim=1)
    return Candidates(best.values, best.indices // vocabulary, best.indices % vocabulary)


def collect(
    best: Candidates,
    written: Tensor,
    sentences: list[int],
    finished: list[list[Hypothesis]],
    at_limit: Tensor,
    length: int,
    alpha: float,
    end: int,
) -> None:
    """Store the candidates that end and are among the first `beam` of their sentence."""
    beam = written.shape[1]
    ends = (best.token[:, :beam] == end) & (best.log_p[:, :beam] > -math.inf)
    for row, column in ends.nonzero().tolist():
        group = finished[sentences[row]]
        if len(group) < beam:
            total = float(best.log_p[row, column])
            ids = written[row, int(best.parent[row, column])].tolist()
            score = total / float(length_penalty(length, alpha))
            group.append(Hypothesis(ids, total, score, ended=not at_limit[row]))


def going_on(best: Candidates, beam: int, end: int) -> Candidates:
    """Return the best `beam` candidates that do not end, in order."""
    log_p = best.log_p.masked_fill(best.token == end, -math.inf)
    kept = log_p.topk(min(beam, log_p.shape[1]), dim=1)
    chosen = Candidates(kept.values, best.parent.gather(1, kept.indices), best.token.gather(1, kept.indices))
    missing = beam - chosen.log_p.shape[1]
    if missing <= 0:
        return chosen
    # If the vocabulary is smaller than the beam, fill up with hypotheses that can never win.
    pad = torch.nn.functional.pad
    return Candidates(pad(chosen.log_p, (0, missing), value=-math.inf), *(pad(x, (0, missing)) for x in chosen[1:]))
