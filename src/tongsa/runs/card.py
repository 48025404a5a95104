"""translator.json: the kind, provenance and scores of a trained model."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import tongsa
from tongsa.config import Recipe

FORMAT = 2
"""Version of the format; raised when older versions of Tongsa could not read it."""

TRANSLATION = "translation"
"""The task if the card names none: format 1 had no other."""


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Provenance of the weights; unknown values are 0 or empty."""

    corpora: tuple[str, ...] = ()
    """Training corpora, as named by the user."""
    examples: int = 0
    """Number of training examples: for translation, sentence pairs."""
    updates: int = 0
    epochs: int = 0
    """Complete passes over the examples."""
    target_tokens: int = 0
    """Tokens (or other items that the loss is averaged over) in all updates."""
    minutes: float = 0.0
    seed: int = 1
    weights: str = ""
    """Description of the published weights: the last checkpoint, or an average."""
    imported: str = ""
    """Program and model that the weights were imported from."""

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Provenance:
        """Read the `training` part of a card."""
        known = {each.name: type(getattr(cls(), each.name)) for each in fields(cls)}
        given = {("examples" if name == "pairs" else name): value for name, value in values.items()}  # format 1: pairs
        return cls(**{name: known[name](value) for name, value in given.items() if name in known})


@dataclass(frozen=True)
class Score:
    """A score of a model, and how it was computed."""

    score: float
    signature: str = ""
    """Settings and version needed to reproduce the number, in the metric's own notation."""

    def to_values(self) -> dict[str, Any]:
        """Return the values for JSON; NaN, which JSON lacks, becomes null."""
        return {"score": self.score if math.isfinite(self.score) else None, "signature": self.signature}


@dataclass(frozen=True, kw_only=True)
class Card:
    """The content of translator.json."""

    task: str = TRANSLATION
    source: str = ""
    target: str = ""
    """Language codes; the source is empty for tasks without one."""
    recipe: Recipe
    training: Provenance = field(default_factory=Provenance)
    scores: Mapping[str, Score] = field(default_factory=dict)
    """Scores of the published weights on the validation set, by metric."""
    confidence: tuple[tuple[float, float], ...] = ()
    """Calibration points (mean log-probability of a token, quality); see translation/confidence.py."""

    def to_json(self) -> str:
        values = {
            "format": FORMAT,
            "tongsa": tongsa.__version__,
            "task": self.task,
            "source": self.source,
            "target": self.target,
            "recipe": self.recipe.to_values(),
            "training": asdict(self.training),
            "scores": {name: score.to_values() for name, score in self.scores.items()},
            "confidence": self.confidence,
        }
        return json.dumps(values, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_values(cls, values: Mapping[str, Any], where: str) -> Card:
        """Read a card of any format up to FORMAT; raises KeyError, TypeError, ValueError or RecipeError if damaged."""
        scores = dict(values["scores"])
        confidence = values.get("confidence", scores.pop("confidence", []))  # format 1: among the scores
        return cls(
            task=str(values.get("task", TRANSLATION)),
            source=str(values["source"]),
            target=str(values["target"]),
            recipe=Recipe.from_values(values["recipe"], where),
            training=Provenance.from_values(values["training"]),
            scores={name: _score(found) for name, found in scores.items()},
            confidence=tuple((float(x), float(y)) for x, y in confidence),
        )


def _score(values: Mapping[str, Any]) -> Score:
    value = values["score"]
    return Score(math.nan if value is None else float(value), str(values.get("signature", "")))
