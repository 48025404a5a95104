"""Cross-entropy with label smoothing (§5.4), readable and fast."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tongsa.config.sections import SAMPLED
from tongsa.models.products import PADDING, padded_bfloat16

ROWS = {"cpu": 256, "cuda": 4096}
"""Tokens whose logits exist at a time: on a CPU they should stay in its cache."""

FREQUENT = DRAWN = SAMPLED / 2
"""Shares of the vocabulary that a sampled softmax goes over: the most frequent pieces, and a sample of the others."""

TINY = 1e-30
"""Below it a float32 probability has lost digits: they end at 1e-38, the last ones with fewer bits."""


@dataclass(frozen=True)
class Loss:
    """Sums over tokens, or over whatever else a task has labels for."""

    total: Tensor
    """The loss to minimise, including label smoothing."""
    log_loss: Tensor
    """-log p of the labels, without gradient: e to the mean of it is the perplexity."""
    count: int
    """Number of tokens summed over."""


def smoothed_cross_entropy(logits: Tensor, labels: Tensor, smoothing: float) -> Loss:
    """(1 - eps) * -log p(label) + eps * mean over the vocabulary of -log p

    logits (tokens, vocabulary), labels (tokens).
    """
    log_p = torch.log_softmax(logits.float(), dim=-1)
    log_loss = -log_p.gather(1, labels[:, None]).sum()
    spread = -log_p.mean(dim=-1).sum()
    return Loss((1 - smoothing) * log_loss + smoothing * spread, log_loss.detach(), len(labels))


class Candidates(NamedTuple):
    """The pieces over which a softmax is estimated: some that are certainly among them, then some that were drawn."""

    pieces: Tensor
    certain: int
    """How many of them, the first ones, were not drawn; they include all labels."""
    stands_for: float
    """Of how many pieces each drawn one is a sample."""

    def weigh(self, logits: Tensor) -> Tensor:
        """Let each drawn piece count for all that it stands for in a softmax of these logits; in place."""
        logits[..., self.certain :] += math.log(self.stands_for)
        return logits


def draw_candidates(labels: Tensor, frequent: Tensor) -> Candidates:
    """The frequent pieces (a mask over the vocabulary), the labels, and some of the others, drawn at random.

    Their number is a multiple of PADDING, as that of rows is: see products.py. A small vocabulary is taken as a whole.
    """
    certain = frequent.index_fill(0, labels, True)
    pieces, others = certain.nonzero()[:, 0], (~certain).nonzero()[:, 0]
    size = math.ceil((len(pieces) + DRAWN * len(frequent)) / PADDING) * PADDING
    drawn = others[torch.randperm(len(others), device=others.device)[: size - len(pieces)]]
    return Candidates(torch.cat([pieces, drawn]), len(pieces), len(others) / max(1, len(drawn)))


def linear_cross_entropy(
    features: Tensor,
    table: Tensor,
    labels: Tensor,
    smoothing: float,
    *,
    bfloat16: bool = False,
    candidates: Candidates | None = None,
) -> Loss:
    """The same of the logits `features @ table[:-1].T`, which never exist all at once.

    features (tokens, width); table (vocabulary + 1, width), its last row being that of `<pad>`; labels (tokens).
    Forward and backward are one pass over a few hundred tokens at a time. The whole table is taken, because slicing it
    outside would have autograd write a second gradient of its size. With `bfloat16`, factors and results of the matrix
    products are rounded to it: see products.py. With `candidates` the partition function is estimated from their logits
    alone: its mean over all draws is the true one (Bengio and Senécal 2008; Jean et al. 2015 translate so).
    """
    total, log_loss = _LinearCrossEntropy.apply(features, table, labels, smoothing, bfloat16, candidates)  # type: ignore[no-untyped-call]
    return Loss(total, log_loss, len(labels))


class _LinearCrossEntropy(torch.autograd.Function):
    """With p = softmax(z) of the logits z = Wh, for each token:

    -log p(label) = log_partition - z(label)
    smoothed      = log_partition - (1 - eps) z(label) - eps * mean(z),    its gradient being  p - (1 - eps) - eps / V
    """

    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        table: Tensor,
        labels: Tensor,
        smoothing: float,
        bfloat16: bool,
        candidates: Candidates | None,
    ) -> tuple[Tensor, Tensor]:
        to_features, to_table = torch.empty_like(features), torch.zeros_like(table)
        weight, to_weight = table[:-1], to_table[:-1]
        share = smoothing / len(weight)
        rows = ROWS[features.device.type]
        # The mean of the logits is linear, so its part of loss and gradient needs only the sum of the weights.
        weight_sum = weight.sum(dim=0)
        if candidates:
            place = labels.new_empty(len(weight))
            place[candidates.pieces] = torch.arange(len(candidates.pieces), device=labels.device)
            labels = place[labels]
            weight = weight[candidates.pieces]
            to_weight = torch.zeros_like(weight)
        partition, at_label = features.new_zeros(()), features.new_zeros(())
        logits = features.new_empty(min(rows, len(features)), len(weight))
        products = (_Bfloat16Products if bfloat16 else _Products)(weight, to_weight, logits)
        parts = zip(features.split(rows), labels.split(rows), to_features.split(rows), strict=True)
        for h, label, to_h in parts:
            z = products.logits(h)
            z = candidates.weigh(z) if candidates else z
            label = label[:, None]
            z_label = z.gather(1, label)
            p = torch.softmax(z, dim=1, out=z)
            log_p = _log_at(p, label, h, weight, candidates)
            at_label += z_label.sum()
            partition += (z_label - log_p).sum()  # log p(label) = z(label) - log partition
            p.scatter_add_(1, label, p.new_full(label.shape, smoothing - 1))
            products.pass_back(p, h, to_h)
        to_features.sub_(weight_sum, alpha=share)
        if candidates:
            to_table.index_copy_(0, candidates.pieces, to_weight)
        to_table[:-1].sub_(features.sum(dim=0), alpha=share)
        ctx.save_for_backward(to_features, to_table)
        smoothed = partition - (1 - smoothing) * at_label - share * torch.dot(features.sum(dim=0), weight_sum)
        log_loss = partition - at_label
        ctx.mark_non_differentiable(log_loss)
        return smoothed, log_loss

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        to_features, to_table = ctx.saved_tensors
        if gradients[0].item() != 1:
            to_features, to_table = to_features * gradients[0], to_table * gradients[0]
        return to_features, to_table, None, None, None, None


class _Products:
    """The three matrix products of a part of the tokens; `logits` is the buffer for the first."""

    def __init__(self, weight: Tensor, to_weight: Tensor, logits: Tensor) -> None:
        self.weight, self.to_weight, self.buffer = weight, to_weight, logits

    def logits(self, h: Tensor) -> Tensor:
        return torch.mm(h, self.weight.t(), out=self.buffer[: len(h)])

    def pass_back(self, to_logits: Tensor, h: Tensor, to_h: Tensor) -> None:
        torch.mm(to_logits, self.weight, out=to_h)
        self.to_weight.addmm_(to_logits.t(), h)


class _Bfloat16Products(_Products):
    """The same, of factors that are rounded to bfloat16; the sums over the parts are not."""

    def __init__(self, weight: Tensor, to_weight: Tensor, logits: Tensor) -> None:
        super().__init__(weight, to_weight, logits)
        self.narrow_weight = weight.bfloat16()
        self.h: Tensor | None = None

    def logits(self, h: Tensor) -> Tensor:
        self.h = padded_bfloat16(h)
        return self.buffer[: len(h)].copy_((self.h @ self.narrow_weight.t())[: len(h)])

    def pass_back(self, to_logits: Tensor, h: Tensor, to_h: Tensor) -> None:
        assert self.h is not None, "logits come first"
        narrow = padded_bfloat16(to_logits)
        to_h.copy_((narrow @ self.narrow_weight)[: len(h)])
        self.to_weight += narrow.t() @ self.h


def _log_at(p: Tensor, label: Tensor, h: Tensor, weight: Tensor, candidates: Candidates | None) -> Tensor:
    """log p(label), from the probabilities; where one is too small for its logarithm, from the logits again."""
    at_label = p.gather(1, label)
    log_p = at_label.log()
    for row in (at_label < TINY)[:, 0].nonzero()[:, 0].tolist():
        z = weight @ h[row]
        log_p[row] = torch.log_softmax(candidates.weigh(z) if candidates else z, dim=0)[label[row]]
    return log_p
