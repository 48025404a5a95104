"""Small run directories of tasks other than translation, with random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from small_translators import small_subwords
from tongsa.config import Recipe
from tongsa.models import build_a
from tongsa.models.weights import named_weights
from tongsa.runs.card import Card
from tongsa.runs.directory import Run


def save_random(directory: Path, task: str, keys: dict[str, Any], contract: type[nn.Module], more: int = 0) -> Path:
    """A run directory of this task; biases and norms are random too: a swapped or forgotten one must show.

    `more` is the number of tokens that the model has beside the pieces and `<pad>`.
    """
    subwords = small_subwords()
    recipe = Recipe.from_values({"model": {"d_model": 32, "dropout": 0.0, **keys}}, "a test")
    torch.manual_seed(5)
    model = build_a(contract, recipe.model, len(subwords.target) + more).eval()
    for parameter in model.parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, mean=0.5, std=0.3)
    directory.mkdir(parents=True, exist_ok=True)
    subwords.save(directory)
    Run(directory).write_translator(Card(task=task, recipe=recipe), named_weights(model))
    return directory
