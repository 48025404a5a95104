"""What is measured of one model, and where it is kept: measured once, read ever after."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tongsa.base.files import write_atomically
from tongsa.lab.compare.plan import RESULTS


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Where one pair's target looks in its source: rows are target tokens, columns source tokens."""

    layer: int
    layers: int
    weights: list[list[float]]
    """Mean of the heads of that layer."""
    rows: list[str]
    columns: list[str]


@dataclass(frozen=True, kw_only=True)
class Result:
    """One model after its training."""

    name: str
    architecture: str
    parameters: int
    updates: int
    minutes: float
    epochs: int
    target_tokens: int
    tokens_per_second: float
    """Target tokens of training, validations and checkpoints left out."""
    flops_per_token: float
    """Floating-point operations of training, forward and back, for each target token."""
    sentences_per_second: float
    curves: dict[str, list[list[float]]]
    """By metric: [minutes, score on the validation set] at each validation."""
    translations: list[str]
    """Of the test set."""
    reach: list[list[float]]
    """[distance, share of a change in the first source embedding that arrives]: see gradients.py."""
    picture: Picture | None

    @property
    def training_flops(self) -> float:
        return self.flops_per_token * self.target_tokens

    def save(self, folder: Path) -> None:
        write_atomically(_path(folder, self.name), json.dumps(dataclasses.asdict(self), ensure_ascii=False))


def stored_result(folder: Path, name: str) -> Result | None:
    """None where there is none that can be read: then it is measured again."""
    try:
        values: dict[str, Any] = json.loads(_path(folder, name).read_text(encoding="utf-8"))
        picture = values.pop("picture")
        return Result(**values, picture=Picture(**picture) if picture else None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _path(folder: Path, name: str) -> Path:
    return folder / RESULTS / f"{name}.json"
