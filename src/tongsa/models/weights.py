"""Weights by name: taken from a model, loaded into one, read from a file and checked against the recipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from tongsa.base.errors import DirectoryError
from tongsa.config import ModelSection
from tongsa.models import build
from tongsa.models.contracts import Seq2Seq
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.runs.weights import read_arrays
from tongsa.text.subwords import Subwords


class _Uninitialised(TorchFunctionMode):
    """Inside this context, the functions of `torch.nn.init` and those that draw their random numbers do nothing."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if function in (Tensor.normal_, Tensor.uniform_) or getattr(function, "__module__", "") == nn.init.__name__:
            return args[0] if args else (kwargs or {})["tensor"]
        return function(*args, **(kwargs or {}))


@contextmanager
def shapes_only() -> Iterator[None]:
    """Inside this context, tensors are made without values: a model that is built has shapes alone.

    PyTorch would import its compiler to initialise weights that have no values, which takes a second.
    """
    with torch.device("meta"), _Uninitialised():
        yield


def build_model(config: ModelSection, subwords: Subwords) -> Seq2Seq:
    """Build a model with new weights for these vocabularies."""
    return build(config, len(subwords.source), None if subwords.joint else len(subwords.target))


def load_model(run: Run, card: Card, subwords: Subwords, device: torch.device) -> Seq2Seq:
    """Load the model of a run directory with its weights."""
    weights = read_weights(run, card, lambda: build_model(card.recipe.model, subwords))
    model = build_model(card.recipe.model, subwords)
    load_weights(model, weights)
    return model.to(device).eval()


def read_weights(run: Run, card: Card, make: Callable[[], nn.Module]) -> dict[str, Tensor]:
    """Read the weights of a run directory; an error lists those that do not fit the model that `make` builds."""
    with shapes_only():  # takes no memory, whatever the card says
        model = make()
    shapes = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    return {name: torch.from_numpy(array) for name, array in read_arrays(run, card, shapes).items()}


def named_weights(model: nn.Module) -> dict[str, Tensor]:
    """Return the weights by name, each once; tied ones under their first name."""
    return {name: parameter.detach().cpu().clone() for name, parameter in model.named_parameters()}


def load_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy into the parameters in place: they may be views of a larger vector."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read all tensors of a safetensors file."""
    try:
        return load_file(path)
    except FileNotFoundError as error:
        raise DirectoryError(f"{path} is missing") from error
    except (SafetensorError, OSError) as error:
        raise DirectoryError(
            f"{path} cannot be read: {error}", "It may have been cut short while it was copied."
        ) from error
