"""Training the memory network on questions (§4.2): annealed SGD, clipped gradients, a linear start."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from tongsa.lab.babi.encoding import UNKNOWN, Encoded
from tongsa.models.memory_network import MemoryNetwork

TESTED_AT_ONCE = 1000


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a network is trained; the defaults are the paper's for all tasks together."""

    epochs: int = 60
    """With the softmax in its place."""
    anneal_every: int = 15
    """Epochs after which the learning rate is halved: a quarter of all epochs in the paper."""
    rate: float = 0.01
    batch: int = 32
    """Questions an update; the loss is their sum, not their mean."""
    clip: float = 40.0
    """Largest norm of a gradient."""
    linear_start: bool = True
    """First without the softmax of the hops, as long as the loss on the held-out questions falls (§4.1)."""
    linear_rate: float = 0.005
    linear_epochs: int = 30
    """At most."""
    linear_patience: int = 5
    """Epochs without a lower loss on the held-out questions that end the linear start."""
    noise: float = 0.1
    """Share of empty memories (§4.1)."""
    held_out: float = 0.1
    """Share of the training questions that are kept for validation."""


@dataclass(frozen=True)
class Epoch:
    """What one pass over the questions came to."""

    number: int
    linear: bool
    train_loss: float
    """A question, as the weights were when it came up."""
    valid_loss: float
    valid_error: float
    seconds: float
    """Since the training began."""


def rows_by_task(encoded: Encoded, share: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Training rows and held-out rows: that share of each task."""
    kept, held = [], []
    for task in encoded.task.unique():
        rows = (encoded.task == task).nonzero().flatten()
        rows = rows[torch.randperm(len(rows), generator=generator)]
        cut = int(len(rows) * share)
        held.append(rows[:cut])
        kept.append(rows[cut:])
    return torch.cat(kept), torch.cat(held)


def train(network: MemoryNetwork, encoded: Encoded, plan: Plan, seed: int) -> Iterator[Epoch]:
    """Epoch by epoch: first linear, where that is planned, then not."""
    generator = torch.Generator().manual_seed(seed)
    rows, held = rows_by_task(encoded, plan.held_out, generator)
    began = time.monotonic()
    number = 0
    for linear in [True, False] if plan.linear_start else [False]:
        best, since = float("inf"), 0
        for epoch in range(plan.linear_epochs if linear else plan.epochs):
            rate = plan.linear_rate if linear else plan.rate * 0.5 ** (epoch // plan.anneal_every)
            loss = train_epoch(network, encoded, rows, plan, rate, linear, generator)
            valid_loss, valid_error = measure(network, encoded, held, linear)
            number += 1
            yield Epoch(number, linear, loss, valid_loss, valid_error, time.monotonic() - began)
            best, since = (valid_loss, 0) if valid_loss < best else (best, since + 1)
            if linear and since == plan.linear_patience:
                break


def train_epoch(
    network: MemoryNetwork,
    encoded: Encoded,
    rows: Tensor,
    plan: Plan,
    rate: float,
    linear: bool,
    generator: torch.Generator,
) -> float:
    """Mean loss a question."""
    parameters = list(network.parameters())
    optimizer = torch.optim.SGD(parameters, lr=rate)
    total = 0.0
    shuffled = rows[torch.randperm(len(rows), generator=generator)]
    for batch in encoded.batches(shuffled, plan.batch, plan.noise, generator):
        logits = network(batch.sentences, batch.story, batch.times, batch.question, linear)
        loss = cross_entropy(logits, batch.answer, reduction="sum")
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, plan.clip)
        optimizer.step()
        total += float(loss.detach())
    return total / len(rows)


@torch.no_grad()
def answers(network: MemoryNetwork, encoded: Encoded, rows: Tensor, linear: bool = False) -> Tensor:
    """Logits (rows, words)."""
    return torch.cat(
        [
            network(batch.sentences, batch.story, batch.times, batch.question, linear)
            for batch in encoded.batches(rows, TESTED_AT_ONCE)
        ]
    )


def measure(network: MemoryNetwork, encoded: Encoded, rows: Tensor, linear: bool = False) -> tuple[float, float]:
    """Mean loss (of the answers that can be given at all) and share of wrong answers."""
    if not len(rows):
        return float("nan"), float("nan")
    logits, right = answers(network, encoded, rows, linear), encoded.answer[rows]
    loss = cross_entropy(logits, right, ignore_index=UNKNOWN)
    return float(loss), float((logits.argmax(dim=1) != right).float().mean())
