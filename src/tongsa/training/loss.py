"""Cross-entropy with label smoothing (§5.4)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Loss(NamedTuple):
    """Sums over the tokens."""

    smoothed: Tensor
    """What is minimised."""
    log_loss: Tensor
    """-log p of the labels: e to the mean of it is the perplexity."""


def smoothed_cross_entropy(logits: Tensor, labels: Tensor, smoothing: float, pad: int) -> Loss:
    """(1 - eps) * -log p(label) + eps * mean over the vocabulary of -log p, summed over the labels that are no `<pad>`

    logits (..., vocabulary), labels (...).
    """
    real = labels != pad
    log_p = torch.log_softmax(logits[real].float(), dim=-1)
    log_loss = -log_p.gather(1, labels[real][:, None]).sum()
    spread = -log_p.mean(dim=-1).sum()
    return Loss((1 - smoothing) * log_loss + smoothing * spread, log_loss.detach())
