"""Greedy search: the likeliest token at each step. Sampling uses the same loop."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from tongsa.decoding.constraints import Constraint
from tongsa.decoding.search import Hypothesis, Special, length_penalty
from tongsa.models.contracts import Decoder, State, Tree, select

Choose = Callable[[Tensor], Tensor]
"""Chooses a token for each row from log-probabilities (rows, vocabulary)."""


def greedy(
    model: Decoder,
    memory: Tree,
    limits: Tensor,
    alpha: float,
    special: Special,
    prompts: Tensor | None = None,
    constraint: Constraint | None = None,
) -> list[list[Hypothesis]]:
    state, tokens = begin(model, memory, len(limits), special, prompts)
    found = walk(model, state, tokens, limits, lambda log_p: log_p.argmax(dim=-1), alpha, special, constraint)
    return [[hypothesis] for hypothesis in found]


def begin(model: Decoder, memory: Tree, rows: int, special: Special, prompts: Tensor | None) -> tuple[State, Tensor]:
    """Return the state and tokens (rows) of the first step: `<pad>`, or the last token of prompts (rows, length)."""
    device = next(model.parameters()).device
    state, tokens = model.start(memory), torch.full((rows,), special.start, device=device)
    for following in () if prompts is None else prompts.to(device).T:
        _, state = model.step(tokens, state)
        tokens = following
    return state, tokens


def log_probabilities(logits: Tensor, unwritable: Tensor) -> Tensor:
    """Return log-probabilities (rows, vocabulary), with -inf for the pieces that are never written."""
    # After the softmax: the other log-probabilities stay those of the model.
    return torch.log_softmax(logits.float(), dim=-1).index_fill_(-1, unwritable, -math.inf)


def walk(
    model: Decoder,
    state: State,
    tokens: Tensor,
    limits: Tensor,
    choose: Choose,
    alpha: float,
    special: Special,
    constraint: Constraint | None = None,
) -> list[Hypothesis]:
    """Choose one token per step and row until all rows have ended; rows that have ended leave the batch."""
    rows = torch.arange(len(limits), device=limits.device)  # original index of each row of the batch
    written: list[list[int]] = [[] for _ in range(len(rows))]
    totals = torch.zeros(len(rows), device=limits.device)
    found: dict[int, Hypothesis] = {}
    unwritable = special.unwritable_ids(limits.device)
    for length in range(1, int(limits.max()) + 1):
        logits, state = model.step(tokens, state)
        log_p = log_probabilities(logits, unwritable)
        if constraint:
            now = rows.tolist()
            log_p = constraint(log_p, now, torch.tensor([written[row] for row in now], device=limits.device))
        tokens = torch.where(length < limits, choose(log_p), special.end)
        totals = totals + log_p.gather(1, tokens[:, None])[:, 0]
        going_on = []
        for i, (row, token, total) in enumerate(zip(rows.tolist(), tokens.tolist(), totals.tolist(), strict=True)):
            if token == special.end:
                score = total / float(length_penalty(length, alpha))
                found[row] = Hypothesis(written[row], total, score, ended=length < int(limits[i]))
            else:
                written[row].append(token)
                going_on.append(i)
        if not going_on:
            break
        if len(going_on) < len(rows):
            keep = torch.tensor(going_on, device=limits.device)
            state = State(select(state.memory, keep), select(state.cache, keep))
            rows, tokens, totals, limits = rows[keep], tokens[keep], totals[keep], limits[keep]
    return [found[row] for row in range(len(written))]
