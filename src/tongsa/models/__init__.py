"""The architectures: contracts, the layers of the paper, and one file for each model.

May import base, config, text, formats, data and runs. config/architectures.py lists the names.
"""

from __future__ import annotations

from typing import TypeVar

from torch import nn

from tongsa.base.errors import RecipeError
from tongsa.config import ModelSection
from tongsa.config.architectures import ARCHITECTURES, model_class
from tongsa.models.contracts import Decoder, Encoder, Seq2Seq

Model = TypeVar("Model", bound=nn.Module)

__all__ = ["Decoder", "Encoder", "Seq2Seq", "architectures_of", "build", "build_a"]


def build(section: ModelSection, source_size: int, target_size: int | None) -> Seq2Seq:
    """Build a model that translates, with new weights; `target_size` is None with a joint vocabulary."""
    return build_a(Seq2Seq, section, source_size, target_size)  # type: ignore[type-abstract]


def build_a(contract: type[Model], section: ModelSection, *sizes: int | None) -> Model:
    """Build a model with new weights; a section of a model that does not follow the contract is refused."""
    kind = model_class(section.architecture)
    if not issubclass(kind, contract):
        fitting = ", ".join(architectures_of(contract))
        raise RecipeError(
            f"the architecture {section.architecture} cannot be used here: it is not of the kind {contract.__name__}",
            f"Suitable architectures: {fitting}",
        )
    model: Model = kind(section, *sizes)
    return model


def architectures_of(contract: type) -> list[str]:
    """List the built-in architectures that follow a contract; imports all of them."""
    return [name for name in ARCHITECTURES if issubclass(model_class(name), contract)]
