"""What a training is asked to do, on disk: recipe.toml and job.json, which every worker and every --resume reads."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

from tongsa.config import Recipe, read_toml
from tongsa.base.errors import DirectoryError
from tongsa.base.files import write_atomically

INITIAL_WEIGHTS = "initial.safetensors"
"""In data/: a copy of the weights that a fine-tuning began with."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a training is told besides its recipe."""

    source: str
    target: str
    seed: int
    minutes: float | None
    device: str
    threads: int
    """Of each process."""
    corpora: list[str]
    """As given, for the card."""
    valid: list[str]
    init: str | None = None
    """The translator whose weights the training began with."""


def save_job(directory: Path, recipe: Recipe, job: Job) -> None:
    write_atomically(directory / "recipe.toml", recipe.to_toml())
    write_atomically(directory / "job.json", json.dumps(dataclasses.asdict(job), indent=2, ensure_ascii=False))


def open_job(directory: Path) -> tuple[Recipe, Job]:
    path = directory / "job.json"
    if not path.is_file():
        raise DirectoryError(f"{directory} holds no training to resume", "Without --resume a new one is begun.")
    recipe = Recipe.from_values(read_toml(directory / "recipe.toml"), str(directory / "recipe.toml"))
    try:
        return recipe, Job(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise DirectoryError(f"{path} is damaged: {error}") from error
