"""Every architecture trains within 2 GB with what `auto` chooses for it: estimated, not really allocated."""

from __future__ import annotations

import pytest
import torch

from tongsa.config.auto import Situation, choose_recipe
from tongsa.models import architectures_of, build
from tongsa.models.contracts import Seq2Seq
from tongsa.models.loss import linear_cross_entropy
from tongsa.models.neural_gpu import MOST_KEPT
from tongsa.training.fitting import resolved

GIGABYTE = 1e9
LOADED = 0.35 * GIGABYTE
"""What Python and PyTorch take by themselves."""
LENGTH = 12


def kept(model: Seq2Seq, sentences: int) -> int:
    """Bytes that a small batch keeps for the backward pass."""
    seen: dict[int, int] = {}
    alive = []

    def note(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        seen[storage.data_ptr()] = storage.nbytes()
        alive.append(tensor)  # so that no other gets the same address
        return tensor

    source = torch.randint(2, 100, (sentences, LENGTH))
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        features = model.features(model.encode(source, torch.ones_like(source, dtype=torch.bool)), source)
        linear_cross_entropy(features.flatten(0, 1), model.projection(), source.flatten(), 0.1)
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    return sum(size for place, size in seen.items() if place not in weights)


@pytest.mark.parametrize("architecture", architectures_of(Seq2Seq))
def test_a_chunk_fits_into_two_gigabytes(architecture: str) -> None:
    text = Situation(pairs=100_000, characters=10_000_000)
    choice = choose_recipe(text, {"model.architecture": architecture})
    recipe = resolved(choice.recipe, 2, torch.device("cpu"))
    torch.manual_seed(1)
    model = build(recipe.model, recipe.subwords.size + 1, None).train()
    always = kept(model, 1)
    per_token = (kept(model, 2) - always) / LENGTH
    # A chunk is padded (never to more than twice chunk_tokens), and the backward pass needs some room beside.
    chunk = 2 * recipe.training.chunk_tokens * per_token
    if architecture == "extended-neural-gpu":  # above it, steps are computed again: tests/models/test_neural_gpu.py
        chunk = min(chunk, 2 * MOST_KEPT)
    weights = 4 * 4 * sum(parameter.numel() for parameter in model.parameters())  # gradient, two moments
    assert LOADED + weights + always + chunk < 2 * GIGABYTE, (architecture, recipe.training.chunk_tokens, per_token)
