"""The files of a language model: weights with their vocabulary, and where a training stands after an epoch."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from tongsa.base.errors import DirectoryError
from tongsa.base.files import write_atomically
from tongsa.lab.language_model.training import Trainer
from tongsa.lab.language_model.words import Words
from tongsa.models.memory_language_model import MemoryLanguageModel, MemoryLanguageModelShape

MODEL, CHECKPOINT = "model.safetensors", "checkpoint.safetensors"


@dataclass(frozen=True)
class Progress:
    """A training after some of its epochs."""

    settings: dict[str, Any]
    epochs: int
    seconds: float
    curve: list[float]
    """Perplexity on the validation text after each epoch."""


def write_model(directory: Path, model: MemoryLanguageModel, words: Words) -> None:
    header = {"tongsa": json.dumps({"shape": asdict(model.shape), "words": words.words}, ensure_ascii=False)}
    write_atomically(directory / MODEL, save(model.state_dict(), header))


def read_model(directory: Path) -> tuple[MemoryLanguageModel, Words]:
    values, tensors = _read(directory / MODEL)
    try:
        model = MemoryLanguageModel(MemoryLanguageModelShape(**values["shape"]))
        model.load_state_dict(tensors)
        return model.eval(), Words(values["words"])
    except (KeyError, TypeError, RuntimeError) as error:
        raise DirectoryError(f"{directory / MODEL} holds no language model: {error}") from error


def write_checkpoint(directory: Path, trainer: Trainer, progress: Progress) -> None:
    tensors = {f"model.{name}": tensor for name, tensor in trainer.model.state_dict().items()}
    for number, parameter in enumerate(trainer.model.parameters()):
        for name, value in trainer.optimizer.state[parameter].items():
            tensors[f"optimizer.{number}.{name}"] = value
    header = {"tongsa": json.dumps(asdict(progress), ensure_ascii=False)}
    write_atomically(directory / CHECKPOINT, save(tensors, header))


def read_checkpoint(directory: Path, trainer: Trainer) -> Progress:
    """Weights and the optimizer's moments, into the trainer."""
    values, tensors = _read(directory / CHECKPOINT)
    try:
        weights = {name: tensors[f"model.{name}"] for name in trainer.model.state_dict()}
        trainer.model.load_state_dict(weights)
        for number, parameter in enumerate(trainer.model.parameters()):
            names = ("step", "exp_avg", "exp_avg_sq")
            trainer.optimizer.state[parameter] = {name: tensors[f"optimizer.{number}.{name}"] for name in names}
        return Progress(**values)
    except (KeyError, TypeError, RuntimeError) as error:
        raise DirectoryError(f"{directory / CHECKPOINT} is of another training: {error}") from error


def settings_of_checkpoint(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = _read(directory / CHECKPOINT)[0].get("settings", {})
    return found


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        with safe_open(path, "pt") as file:
            values: dict[str, Any] = json.loads((file.metadata() or {})["tongsa"])
            return values, {name: torch.as_tensor(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, ValueError, KeyError, OSError) as error:
        raise DirectoryError(f"{path} is missing or damaged: {error}", "Train it anew in another --out.") from error
