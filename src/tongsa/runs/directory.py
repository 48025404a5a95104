"""The translator directory: what training writes and everything else reads.

translator.json       languages, recipe, provenance, scores
subwords.model        SentencePiece (or subwords.source.model and subwords.target.model)
weights.safetensors   never a pickle: loading a stranger's translator runs no code

torch is imported by those functions alone that handle weights: a compiled engine needs the card and the subwords.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tongsa
from tongsa.config import Recipe
from tongsa.base.errors import DirectoryError, RecipeError
from tongsa.base.files import write_atomically

if TYPE_CHECKING:
    import torch
    from torch import Tensor

FORMAT = 1
"""Goes up when an older Tongsa could not read what a newer one writes."""

CARD = "translator.json"
WEIGHTS = "weights.safetensors"


@dataclass(frozen=True, kw_only=True)
class Card:
    """What translator.json says."""

    source: str
    target: str
    recipe: Recipe
    training: dict[str, Any] = field(default_factory=dict)
    """Where it comes from: corpora, pairs, updates, minutes, seed."""
    scores: dict[str, Any] = field(default_factory=dict)
    """On the validation set: {"bleu": {"score": ..., "signature": ...}, ...}."""

    def to_json(self) -> str:
        values = {
            "format": FORMAT,
            "tongsa": tongsa.__version__,
            "source": self.source,
            "target": self.target,
            "recipe": self.recipe.to_values(),
            "training": self.training,
            "scores": self.scores,
        }
        return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def write_translator(directory: Path, card: Card, weights: dict[str, Tensor]) -> None:
    """The card last: a directory with a card is whole."""
    from safetensors.torch import save

    write_atomically(directory / WEIGHTS, save(weights))
    write_atomically(directory / CARD, card.to_json())


def read_card(directory: Path) -> Card:
    path = directory / CARD
    if not path.is_file():
        raise DirectoryError(f"{directory} is no translator: it has no {CARD}", *_what_it_is(directory))
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        written = int(values["format"])
    except (ValueError, KeyError, TypeError) as error:
        raise DirectoryError(f"{path} is damaged: {error}", "Copy the directory again, or train it anew.") from error
    if written > FORMAT:
        raise DirectoryError(
            f"{directory} has format {written}; this Tongsa ({tongsa.__version__}) reads up to {FORMAT}",
            f"It was written by Tongsa {values.get('tongsa', '?')}:  pip install --upgrade tongsa",
        )
    try:
        recipe = Recipe.from_values(values["recipe"], str(path))
        return Card(
            source=values["source"],
            target=values["target"],
            recipe=recipe,
            training=values["training"],
            scores=values["scores"],
        )
    except KeyError as error:
        raise DirectoryError(f"{path} is damaged: it has no {error}") from error
    except RecipeError as error:
        raise DirectoryError(*str(error).split("\n  ")) from error


def _what_it_is(directory: Path) -> list[str]:
    if not directory.exists():
        return ["There is no such directory. `tongsa train ... --out DIR` makes one."]
    if (directory / "recipe.toml").is_file():
        return ["It holds a training that has not been validated yet. To go on with it:  tongsa train --resume ..."]
    return ["A translator is what `tongsa train ... --out DIR` writes."]


def named_weights(model: torch.nn.Module) -> dict[str, Tensor]:
    """The weights by name, each once: tied ones under their first name."""
    return {name: parameter.detach().cpu().clone() for name, parameter in model.named_parameters()}


def load_weights(model: torch.nn.Module, weights: dict[str, Tensor]) -> None:
    """Copy into the parameters in place: they may be views of a larger vector."""
    import torch

    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])


def read_tensors(path: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except FileNotFoundError as error:
        raise DirectoryError(f"{path} is missing") from error
    except (SafetensorError, OSError) as error:
        raise DirectoryError(
            f"{path} cannot be read: {error}", "It may have been cut short while it was copied."
        ) from error
