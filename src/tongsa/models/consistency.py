"""Consistency under dropout: R-Drop (Liang et al. 2021, equations 2 and 3).

Every batch goes through the model twice, with other dropout masks. Besides the labels, each pass learns from the
probabilities of the other: with p and q for the two passes, the loss of a token is

    1/2 (smoothed cross-entropy of p + that of q)  +  weight * 1/2 (KL(p||q) + KL(q||p))

which is half of theirs, with weight = alpha / 2.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tongsa.models.loss import ROWS, Loss, log_at, products_of, smoothed_cross_entropy


def consistent_cross_entropy(logits: Tensor, labels: Tensor, smoothing: float, weight: float) -> Loss:
    """The loss as it is written above. logits (2, tokens, vocabulary), labels (tokens)."""
    losses = [smoothed_cross_entropy(each, labels, smoothing) for each in logits]
    log_p, log_q = torch.log_softmax(logits.float(), dim=-1)
    divergence = ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum()  # KL(p||q) + KL(q||p)
    total = (losses[0].total + losses[1].total) / 2 + weight * divergence / 2
    return Loss(total, (losses[0].log_loss + losses[1].log_loss) / 2, len(labels))


def linear_consistent_cross_entropy(
    features: Tensor, table: Tensor, labels: Tensor, smoothing: float, weight: float, *, bfloat16: bool = False
) -> Loss:
    """The same of the logits `features @ table[:-1].T`, which never exist all at once: see `linear_cross_entropy`.

    features (2, tokens, width); table (vocabulary + 1, width); labels (tokens).
    """
    total, log_loss = _LinearConsistentCrossEntropy.apply(features, table, labels, smoothing, weight, bfloat16)  # type: ignore[no-untyped-call]
    return Loss(total, log_loss, len(labels))


class _LinearConsistentCrossEntropy(torch.autograd.Function):
    """With d = log p - log q, the gradients of twice the loss with respect to the logits of p and q are

        p - (1 - eps) - eps / V  +  weight (p (d - KL(p||q)) + p - q)
        q - (1 - eps) - eps / V  +  weight (q (-d - KL(q||p)) + q - p)

    (1 - eps being subtracted at the label only).
    """

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, table: Tensor, labels: Tensor, smoothing: float, weight: float, bfloat16: bool
    ) -> tuple[Tensor, Tensor]:
        to_features, to_table = torch.empty_like(features), torch.zeros_like(table)
        vocabulary, to_vocabulary = table[:-1], to_table[:-1]
        share = smoothing / len(vocabulary)
        rows = ROWS[features.device.type] // 2
        vocabulary_sum = vocabulary.sum(dim=0)
        partition, at_label, divergence = (features.new_zeros(()) for _ in range(3))
        logits = features.new_empty(2 * min(rows, len(labels)), len(vocabulary))
        products = products_of(vocabulary, to_vocabulary, logits, bfloat16=bfloat16)
        parts = zip(features.split(rows, dim=1), labels.split(rows), to_features.split(rows, dim=1), strict=True)
        for both, label, to_both in parts:
            h = both.reshape(-1, both.shape[-1])
            z = products.logits(h)
            label = label.repeat(2)[:, None]
            z_label = z.gather(1, label)
            d = torch.sub(*z.chunk(2))
            p_and_q = torch.softmax(z, dim=1, out=z)
            log_partition = z_label - log_at(p_and_q, label, h, vocabulary)
            at_label += z_label.sum()
            partition += log_partition.sum()
            d -= torch.sub(*log_partition.chunk(2))
            p, q = p_and_q.chunk(2)
            divergence += _add_divergence(p, q, d, weight)
            p_and_q.scatter_add_(1, label, z.new_full(label.shape, smoothing - 1))
            to_h = torch.empty_like(h)
            products.pass_back(p_and_q, h, to_h)
            to_both.copy_(to_h.view_as(both))
        sum_of_features = features.sum(dim=(0, 1))
        to_features.sub_(vocabulary_sum, alpha=share).div_(2)
        to_vocabulary.sub_(sum_of_features, alpha=share)
        to_table.div_(2)
        ctx.save_for_backward(to_features, to_table)
        smoothed = partition - (1 - smoothing) * at_label - share * torch.dot(sum_of_features, vocabulary_sum)
        log_loss = (partition - at_label) / 2
        ctx.mark_non_differentiable(log_loss)
        return (smoothed + weight * divergence) / 2, log_loss

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        to_features, to_table = ctx.saved_tensors
        if gradients[0].item() != 1:
            to_features, to_table = to_features * gradients[0], to_table * gradients[0]
        return to_features, to_table, None, None, None, None


def _add_divergence(p: Tensor, q: Tensor, d: Tensor, weight: float) -> Tensor:
    """Add the gradient of weight * (KL(p||q) + KL(q||p)) to p and q, in place; return the two KLs' sum over tokens.

    d is log p - log q, and is overwritten.
    """
    p_to_q: Tensor = torch.linalg.vecdot(p, d)[:, None]
    q_to_p: Tensor = -torch.linalg.vecdot(q, d)[:, None]
    d *= weight
    to_q = (1 + weight - weight * q_to_p - d).mul_(q).sub_(p, alpha=weight)
    p.mul_(d.add_(1 + weight - weight * p_to_q)).sub_(q, alpha=weight)
    q.copy_(to_q)
    return (p_to_q + q_to_p).sum()
