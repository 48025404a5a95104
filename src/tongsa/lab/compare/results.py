"""Measurements of each trained model: measured once, then read from a file."""

from __future__ import annotations

import dataclasses
import itertools
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.data.prepare import Prepared
from tongsa.evaluation.metrics import named
from tongsa.lab.compare.gradients import reach
from tongsa.lab.compare.operations import flops_per_token
from tongsa.lab.compare.plan import RESULTS, CompareOptions
from tongsa.runs.directory import Run
from tongsa.text.lines import tidy
from tongsa.text.subwords import END
from tongsa.translation.translator import Translator

BLOCK = 256
WARM_UP = 8
"""Number of sentences translated before timing starts, as a warm-up."""

Texts = Sequence[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Attention of one pair's target to its source: rows are target tokens, columns source tokens."""

    layer: int
    layers: int
    weights: list[list[float]]
    """Mean of the heads of that layer."""
    rows: list[str]
    columns: list[str]


@dataclass(frozen=True, kw_only=True)
class Result:
    """The measurements of one trained model."""

    name: str
    architecture: str
    parameters: int
    updates: int
    minutes: float
    epochs: int
    target_tokens: int
    tokens_per_second: float
    """Target tokens per second of training, without validations and checkpoints."""
    flops_per_token: float
    """Floating-point operations per target token in training, forward and backward."""
    sentences_per_second: float
    curves: dict[str, list[list[float]]]
    """By metric: [minutes, score on the validation set] at each validation."""
    translations: list[str]
    """Translations of the test set."""
    reach: list[list[float]]
    """[distance, influence of the first source token]: see gradients.py."""
    picture: Picture | None

    @property
    def training_flops(self) -> float:
        return self.flops_per_token * self.target_tokens

    def save(self, folder: Path) -> None:
        write_atomically(_path(folder, self.name), json.dumps(dataclasses.asdict(self), ensure_ascii=False))


def stored_result(folder: Path, name: str) -> Result | None:
    """The stored result; None if it is missing or unreadable, so that it is measured again."""
    try:
        values: dict[str, Any] = json.loads(_path(folder, name).read_text(encoding="utf-8"))
        picture = values.pop("picture")
        return Result(**values, picture=Picture(**picture) if picture else None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _path(folder: Path, name: str) -> Path:
    return folder / RESULTS / f"{name}.json"


def measure(name: str, directory: Path, options: CompareOptions, test: Texts, shown: int, show: Show) -> Result:
    """Measure a trained model; `shown` is the index of the sentence whose attention is drawn."""
    # The native engine for all: CTranslate2 supports only the Transformer, so its speed would not be comparable.
    translator = Translator.load(directory, engine="native", threads=options.threads, device=options.device)
    translations, speed = _translate(translator, [source for source, _ in test], name, show)
    model, subwords = translator.native.model, translator.subwords
    sources, targets = (
        [vocabulary.encode(tidy(pair[side])) for pair in test]
        for side, vocabulary in enumerate((subwords.source, subwords.target))
    )
    within = [i for i in range(len(test)) if _fits(sources[i], targets[i], model.max_length)]
    events = Run(directory).events()
    training = translator.card.training
    return Result(
        name=name,
        architecture=translator.card.recipe.model.architecture,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        updates=training.updates,
        minutes=training.minutes,
        epochs=training.epochs,
        target_tokens=training.target_tokens,
        tokens_per_second=training_speed(events),
        flops_per_token=flops_per_token(model, translator.card.recipe, Prepared.open(directory)),
        sentences_per_second=speed,
        curves=validation_curves(events),
        translations=translations,
        reach=reach(
            model, [sources[i] for i in within], [targets[i] for i in within], end=END, start=subwords.target.pad
        ),
        picture=_picture(translator, *test[shown]),
    )


def _fits(source: Sequence[int], target: Sequence[int], longest: int | None) -> bool:
    return longest is None or max(len(source), len(target)) < longest


def _translate(translator: Translator, sources: list[str], name: str, show: Show) -> tuple[list[str], float]:
    """The translations, and the number of sentences per second."""
    translator.translate(sources[:WARM_UP])
    found: list[str] = []
    began = time.perf_counter()
    with show.bar(f"{name} translates", len(sources), "sentences") as bar:
        for first in range(0, len(sources), BLOCK):
            block = sources[first : first + BLOCK]
            found += [translation.text for translation in translator.translate(block)]
            bar.advance(len(block))
    return found, len(sources) / (time.perf_counter() - began)


def validation_curves(events: Sequence[dict[str, Any]]) -> dict[str, list[list[float]]]:
    """[minutes, score] at each validation, for every metric that the log has."""
    validations = [event for event in events if event["event"] == "validation"]
    return {
        metric.name: [[e["seconds"] / 60, e[metric.name]] for e in validations if e.get(metric.name) is not None]
        for metric in named(key for event in validations for key in event)
    }


def training_speed(events: Sequence[dict[str, Any]]) -> float:
    """Target tokens per second between consecutive updates, without the time of validations between them."""
    seconds = tokens = 0.0
    for before, after in itertools.pairwise(events):
        if before["event"] == after["event"] == "update" and after["seconds"] > before["seconds"]:
            seconds += after["seconds"] - before["seconds"]
            tokens += after["tokens"]
    return tokens / seconds if seconds else 0.0


def _picture(translator: Translator, source: str, target: str) -> Picture | None:
    """Attention while the reference is read: the same rows and columns for every model."""
    kind = next((kind for kind in translator.inspect(source, target).kinds() if kind.name == "cross"), None)
    if kind is None:
        return None
    layer = kind.sharpest()
    return Picture(
        layer=layer + 1,
        layers=len(kind.layers),
        weights=[[round(weight, 4) for weight in row] for row in kind.weights(layer, None).tolist()],
        rows=list(kind.queries),
        columns=list(kind.keys),
    )
