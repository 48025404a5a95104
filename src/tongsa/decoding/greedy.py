"""Greedy search: the likeliest token at each step. The walk it takes serves sampling too."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tongsa.decoding.search import Hypothesis, Special, length_penalty
from tongsa.models.contracts import Seq2Seq, State, Tree, select

Choose = Callable[[Tensor], Tensor]
"""Log-probabilities (rows, vocabulary) to a token for each row."""


def greedy(model: Seq2Seq, memory: Tree, limits: Tensor, alpha: float, special: Special) -> list[list[Hypothesis]]:
    found = walk(model, memory, limits, lambda log_p: log_p.argmax(dim=-1), alpha, special)
    return [[hypothesis] for hypothesis in found]


def walk(
    model: Seq2Seq, memory: Tree, limits: Tensor, choose: Choose, alpha: float, special: Special
) -> list[Hypothesis]:
    """One token a step for every row until all have ended; rows that have ended leave the batch."""
    state = model.start(memory)
    rows = torch.arange(len(limits), device=limits.device)  # where each row of the batch stood at the start
    tokens = torch.full_like(rows, special.start)
    written: list[list[int]] = [[] for _ in range(len(rows))]
    totals = torch.zeros(len(rows), device=limits.device)
    found: dict[int, Hypothesis] = {}
    for length in range(1, int(limits.max()) + 1):
        logits, state = model.step(tokens, state)
        log_p = torch.log_softmax(logits.float(), dim=-1)
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
