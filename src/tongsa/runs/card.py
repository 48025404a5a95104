"""translator.json: what a trained model is, where it comes from and how good it is."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import tongsa
from tongsa.config import Recipe

FORMAT = 2
"""Goes up when an older Tongsa could not read what a newer one writes."""

TRANSLATION = "translation"
"""The task of a directory that names none: format 1 knew no other."""


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where the weights come from; 0 or empty where that is not known."""

    corpora: tuple[str, ...] = ()
    """Corpora as the user named them."""
    examples: int = 0
    """Training examples: for translation, sentence pairs."""
    updates: int = 0
    epochs: int = 0
    """Complete passes over the examples."""
    target_tokens: int = 0
    """Tokens (or whatever the loss is a mean over) of all updates."""
    minutes: float = 0.0
    seed: int = 1
    weights: str = ""
    """Which weights were published, in words: the last checkpoint, or an average."""
    imported: str = ""
    """The program and model that the weights were imported from."""

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Provenance:
        """Read the `training` part of a card."""
        known = {each.name: type(getattr(cls(), each.name)) for each in fields(cls)}
        given = {("examples" if name == "pairs" else name): value for name, value in values.items()}  # format 1: pairs
        return cls(**{name: known[name](value) for name, value in given.items() if name in known})


@dataclass(frozen=True)
class Score:
    """A number that says how good a model is, and how it was computed."""

    score: float
    signature: str = ""
    """What another person needs to compute the same number: settings and version, in the metric's own notation."""

    def to_values(self) -> dict[str, Any]:
        """As JSON has it, without NaN."""
        return {"score": self.score if math.isfinite(self.score) else None, "signature": self.signature}


@dataclass(frozen=True, kw_only=True)
class Card:
    """What translator.json says."""

    task: str = TRANSLATION
    source: str = ""
    target: str = ""
    """Language codes; a task without a source language leaves it empty."""
    recipe: Recipe
    training: Provenance = field(default_factory=Provenance)
    scores: Mapping[str, Score] = field(default_factory=dict)
    """Of the published weights on the validation set, by the name of the metric."""
    confidence: tuple[tuple[float, float], ...] = ()
    """Points (mean log-probability of a token, quality) that turn one into the other; see translation/confidence.py."""

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
        """Build a card of any format up to ours; KeyError, TypeError, ValueError or RecipeError where it is damaged."""
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
