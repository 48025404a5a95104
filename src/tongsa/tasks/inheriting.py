"""Initialise a student with its teacher's weights: all that fit, and a few evenly spaced decoder layers.

Such a student has little left to learn (Shleifer and Rush 2020): encoder and embeddings are the teacher's, and only
the few decoder layers must learn to do the work of all of the teacher's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from tongsa.base.files import write_atomically
from tongsa.config import ModelSection, Recipe, TransformerSection, merge
from tongsa.models.weights import build_model, named_weights, read_weights
from tongsa.runs.directory import Run
from tongsa.text.subwords import Subwords

DECODER_LAYERS = 2

SETTINGS: dict[str, Any] = {
    "schedule": "cosine",
    "peak": 0.001,
    "warmup": 150,
    "updates": 2000,
    "optimizer": "adam",
    "chunk_tokens": 0,
    "processes": 0,
    "precision": "auto",
}


def student_recipe(teacher: Run) -> Recipe:
    """The teacher's recipe with two decoder layers: most of the time of translating is spent in the decoder."""
    recipe = teacher.read_card().recipe
    changes: dict[str, dict[str, Any]] = {"training": SETTINGS}
    if isinstance(recipe.model, TransformerSection):
        changes["model"] = {"decoder_layers": min(DECODER_LAYERS, recipe.model.decoder_layers)}
    return Recipe.from_values(merge(recipe.to_values(), changes), f"a student of {teacher.path}")


def write_inherited(path: Path, teacher: Run, model: ModelSection, subwords: Subwords, seed: int) -> tuple[int, int]:
    """Write a student's initial weights; return the number of tensors taken from the teacher, and of all tensors."""
    torch.manual_seed(seed)
    weights = named_weights(build_model(model, subwords))
    card = teacher.read_card()
    given = read_weights(teacher, card, lambda: build_model(card.recipe.model, subwords))
    taken = inherited(weights, model, given, card.recipe.model)
    write_atomically(path, save({**weights, **taken}))
    return len(taken), len(weights)


def inherited(
    weights: dict[str, Tensor], model: ModelSection, teacher: dict[str, Tensor], teacher_model: ModelSection
) -> dict[str, Tensor]:
    """The student's tensors that the teacher has in the same shape, with the teacher's values."""
    places: dict[str, str] = {}
    if isinstance(model, TransformerSection) and isinstance(teacher_model, TransformerSection):
        chosen = evenly(model.decoder_layers, teacher_model.decoder_layers)
        places = {f"decoder.{own}.": f"decoder.{its}." for own, its in enumerate(chosen)}
    found = {}
    for name, tensor in weights.items():
        prefix = next((place for place in places if name.startswith(place)), "")
        value = teacher.get(places.get(prefix, "") + name.removeprefix(prefix))
        if value is not None and value.shape == tensor.shape:
            found[name] = value.clone()  # one layer of the teacher may serve two of the student
    return found


def evenly(few: int, many: int) -> list[int]:
    """Indices of `few` items evenly spaced among `many`, including the first and the last; only the first for one."""
    if few == 1 or many == 1:
        return [0] * few
    return [round(i * (many - 1) / (few - 1)) for i in range(few)]
