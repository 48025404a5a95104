"""translator.json: the kind, provenance and scores of a trained model."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import tongsa
from tongsa.config import Recipe

FORMAT = 2
"""Version of the format that is written; raised when older versions of Tongsa could not read it."""
COMPACT_FORMAT = 3
"""Version of the format of a directory with compact weights, which Tongsa 0.2 could not read: the newest."""

TRANSLATION = "translation"
"""The task if the card names none: format 1 had no other."""

MOST = 1_000_000_000_000_000
"""Upper limit of every number of a card."""
LONGEST_TEXT = 4096
"""Most characters of a text of a card."""
LONGEST_LIST = 10_000
"""Most entries of a list of a card."""

LANGUAGE = re.compile(r"(?!\.)[\w.@+-]{0,64}")
"""A language code, which also becomes part of file names."""
SUM = re.compile(r"[0-9a-f]{64}")


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
    licence: str = ""
    """Licence and attribution of the training text."""

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Provenance:
        """Read the `training` part of a card."""
        known = {each.name: type(getattr(cls(), each.name)) for each in fields(cls)}
        given = {("examples" if name == "pairs" else name): value for name, value in values.items()}  # format 1: pairs
        read: dict[type, Callable[[str, Any], Any]] = {int: _whole, float: _number, str: _text, tuple: _texts}
        return cls(**{name: read[known[name]](name, value) for name, value in given.items() if name in known})


GREEDY = "greedy"
"""Signature of a score that was computed while training, on greedy translations."""


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
class ConfidenceWeights:
    """Weights of the confidence of a translation; see translation/confidence.py."""

    bias: float
    average: float
    """Weight of the average log-probability of a token."""
    familiarity: float
    """Weight of the familiarity of the source."""

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> ConfidenceWeights:
        return cls(**{each.name: _number(each.name, values[each.name]) for each in fields(cls)})


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
    """Points (mean log-probability of a token, quality) that earlier versions wrote instead of `calibration`."""
    calibration: ConfidenceWeights | None = None
    one_sentence: bool = False
    """Lines of the training text hold one sentence each, so a text of several is translated one by one."""
    compact: bool = False
    """The weights are stored as int8 with a scale for each row; see runs/compact.py."""
    checksums: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """SHA-256 of the files beside the card that are loaded, by name; empty if an earlier version wrote the card.

    While the weights are being replaced there are two: those of the old file and of the new one."""

    def to_json(self) -> str:
        values = {
            "format": COMPACT_FORMAT if self.compact else FORMAT,
            "tongsa": tongsa.__version__,
            "task": self.task,
            "source": self.source,
            "target": self.target,
            "recipe": self.recipe.to_values(),
            "training": asdict(self.training),
            "scores": {name: score.to_values() for name, score in self.scores.items()},
            "confidence": self.confidence,
            "calibration": asdict(self.calibration) if self.calibration else None,
            "one_sentence": self.one_sentence,
            **({"compact": True} if self.compact else {}),
            "checksums": self.checksums,
        }
        return json.dumps(values, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_values(cls, values: Mapping[str, Any], where: str) -> Card:
        """Read a card of any known format; raises KeyError, TypeError, ValueError or RecipeError if damaged."""
        scores = dict(values["scores"])
        confidence = values.get("confidence", scores.pop("confidence", []))  # format 1: among the scores
        calibration = values.get("calibration")
        return cls(
            task=_text("task", values.get("task", TRANSLATION)),
            source=language_code("source", values["source"]),
            target=language_code("target", values["target"]),
            recipe=Recipe.from_values(values["recipe"], where),
            training=Provenance.from_values(values["training"]),
            scores={_text("a score's name", name): _score(name, found) for name, found in scores.items()},
            confidence=tuple(_point(point) for point in _list("confidence", confidence)),
            calibration=ConfidenceWeights.from_values(calibration) if calibration else None,
            one_sentence=_flag("one_sentence", values.get("one_sentence", False)),
            compact=_flag("compact", values.get("compact", False)),
            checksums={name: _sums(name, sums) for name, sums in dict(values.get("checksums", {})).items()},
        )


def language_code(name: str, value: Any) -> str:
    """Return the value if it can be the code of a language, or is empty."""
    if not isinstance(value, str) or not LANGUAGE.fullmatch(value):
        raise ValueError(f"{name} is not a language code")
    return value


def _score(name: str, values: Mapping[str, Any]) -> Score:
    value = values["score"]
    return Score(math.nan if value is None else _number(name, value), _text(name, values.get("signature", "")))


def _point(values: Any) -> tuple[float, float]:
    x, y = (_number("confidence", value) for value in _list("confidence", values))
    return x, y


def _sums(name: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(each, str) and SUM.fullmatch(each) for each in values):
        raise ValueError(f"the checksum of {name} is not one")
    return tuple(values)


def _whole(name: str, value: Any) -> int:
    if type(value) is not int or not 0 <= value <= MOST:
        raise ValueError(f"{name} is not a whole number from 0 to {MOST:,}")
    return value


def _number(name: str, value: Any) -> float:
    if type(value) not in (int, float) or not -MOST <= value <= MOST:  # also false for NaN
        raise ValueError(f"{name} is not a number between {-MOST:,} and {MOST:,}")
    return float(value)


def _flag(name: str, value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError(f"{name} is neither true nor false")
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise ValueError(f"{name} is not a text of at most {LONGEST_TEXT:,} characters")
    return value


def _texts(name: str, values: Any) -> tuple[str, ...]:
    return tuple(_text(name, value) for value in _list(name, values))


def _list(name: str, values: Any) -> list[Any]:
    if not isinstance(values, list) or len(values) > LONGEST_LIST:
        raise ValueError(f"{name} is not a list of at most {LONGEST_LIST:,} entries")
    return values
