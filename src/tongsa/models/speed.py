"""How fast this machine trains: a few updates' worth of a small Transformer on made-up sentences."""

from __future__ import annotations

import time
from contextlib import nullcontext

import torch
from torch import Tensor

from tongsa.base.devices import one_thread
from tongsa.config.auto import operations_per_token
from tongsa.config.presets import load_recipe
from tongsa.models import build_a
from tongsa.models.loss import FREQUENT, draw_candidates, linear_cross_entropy
from tongsa.models.products import bfloat16_is_faster, bfloat16_products
from tongsa.models.transformer import Transformer

PROBED = "tiny"
SENTENCES, LENGTH, VOCABULARY = 24, 25, 8000
REPEATS = 4


def training_speed(threads: int) -> float:
    """Floating-point operations per second of a training with this many processes of one thread; takes about a second.

    Operations are those of `operations_per_token`. Other work on the machine only slows a repeat down, so the fastest
    one counts.
    """
    section = load_recipe(PROBED, {}).model
    bfloat16 = bfloat16_is_faster()
    with one_thread(), torch.random.fork_rng(devices=[]):
        model = build_a(Transformer, section, VOCABULARY + 1).train()
        source, target = torch.randint(VOCABULARY, (2, SENTENCES, LENGTH))
        fastest = min(_seconds(model, source, target, bfloat16) for _ in range(REPEATS))
    return threads * operations_per_token(PROBED, VOCABULARY) * SENTENCES * LENGTH / fastest


def _seconds(model: Transformer, source: Tensor, target: Tensor, bfloat16: bool) -> float:
    """Time of a forward and a backward pass, with frequent pieces as labels of a sampled softmax."""
    frequent = torch.arange(VOCABULARY) < FREQUENT * VOCABULARY
    labels = target.flatten() % int(FREQUENT * VOCABULARY)
    began = time.perf_counter()
    with bfloat16_products() if bfloat16 else nullcontext():
        features = model.features(model.encode(source, torch.ones_like(source, dtype=torch.bool)), target)
    candidates = draw_candidates(labels, frequent)
    loss = linear_cross_entropy(
        features.flatten(0, 1), model.projection(), labels, 0.1, bfloat16=bfloat16, candidates=candidates
    )
    loss.total.backward()
    return time.perf_counter() - began
