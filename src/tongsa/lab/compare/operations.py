"""Floating-point operations of training, counted while it runs on a few chunks of the corpus."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import cross_entropy
from torch.utils.flop_counter import FlopCounterMode

from tongsa.config import Recipe
from tongsa.data.batches import PairOrder, assemble
from tongsa.data.prepare import Prepared
from tongsa.models.contracts import Seq2Seq

CHUNKS = 6
"""Number of chunks to count on; they have short and long sentences, as in the corpus."""


def flops_per_token(model: Seq2Seq, recipe: Recipe, data: Prepared, *, seed: int = 1) -> float:
    """FLOPs of matrix products and convolutions, forward and backward, per target token (including padding).

    torch counts basic operations, so fused attention and fused recurrent layers are replaced by unfused ones.
    """
    section = recipe.training
    tokens = section.chunk_tokens or section.batch_tokens
    chunks = PairOrder.of(data.train, batch_tokens=tokens, chunk_tokens=tokens, seed=seed).chunks(
        np.random.default_rng(seed)
    )
    chosen = [chunks[round(i)] for i in np.linspace(0, len(chunks) - 1, min(CHUNKS, len(chunks)))]
    device = next(model.parameters()).device
    was_training = model.training
    model.train()
    flops = target_tokens = 0
    for rows in chosen:
        batch = assemble(data.train, rows, data.subwords, sampling=0.0, seed=seed).to(device)
        real = batch.labels != data.subwords.target.pad
        with (
            sdpa_kernel(SDPBackend.MATH),
            recurrent_layers_taken_apart(),
            FlopCounterMode(display=False) as counter,
        ):
            features = model.features(model.encode(batch.source, batch.source_mask), batch.target)
            # the plain loss computes the same products as the training's own, which hides some from the counter
            cross_entropy(model.project(features[real]), batch.labels[real]).backward()
        flops += counter.get_total_flops()
        target_tokens += int(real.sum())
    model.zero_grad(set_to_none=True)
    model.train(was_training)
    return flops / target_tokens


@contextmanager
def recurrent_layers_taken_apart() -> Iterator[None]:
    """Disable oneDNN, which computes an LSTM in one operation that torch does not count."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a setting for GPUs that is changed along with this one
        with torch.backends.mkldnn.flags(enabled=False):
            yield
