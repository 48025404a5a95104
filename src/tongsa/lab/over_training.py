"""A sentence through the checkpoints of a run: how its translation and its attention form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tongsa.base.errors import DirectoryError, UsageError
from tongsa.engines.inspection import Inspection, inspect_pair
from tongsa.models.weights import build_model, load_weights
from tongsa.training.checkpoint import checkpoints

if TYPE_CHECKING:
    from tongsa.engines.native import NativeEngine
    from tongsa.runs.directory import Run
    from tongsa.translation.translator import Translator


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A pair at one point of the training."""

    update: int | None
    """None for the translator as it was published."""
    translation: str
    """What the model then makes of the source."""
    log_probability: float
    """Of the given target."""
    attention: Inspection
    """Of the given pair, so that pictures can be compared."""


def updates(run: Run) -> list[int]:
    """The updates of the checkpoints that are left, in order."""
    return [checkpoint.update for checkpoint in checkpoints(run.checkpoints)]


def snapshot(
    translator: Translator, run: Run, update: int | None, source: Sequence[int], target: Sequence[int]
) -> Snapshot:
    """The pair at a checkpoint; its model is loaded for this once."""
    engine = translator.native if update is None else _engine_at(translator, run, update)
    (log_probabilities,) = engine.score([source], [target])
    written = engine.translate([source], translator.search)[0][0].ids
    return Snapshot(
        update=update,
        translation=translator.subwords.target.decode(written),
        log_probability=sum(log_probabilities),
        attention=inspect_pair(engine, translator.card, translator.subwords, source, target),
    )


def _engine_at(translator: Translator, run: Run, update: int) -> NativeEngine:
    found = {checkpoint.update: checkpoint for checkpoint in checkpoints(run.checkpoints)}
    if update not in found:
        known = ", ".join(f"{each:,}" for each in found) or "none"
        raise UsageError(f"there is no checkpoint of update {update:,}", f"Checkpoints: {known}.")
    model = build_model(translator.card.recipe.model, translator.subwords)
    weights = found[update].weights()
    shapes = {name: tuple(weight.shape) for name, weight in weights.items()}
    wanted = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    if any(shapes.get(name) != shape for name, shape in wanted.items()):
        raise DirectoryError(
            f"{found[update].folder} does not fit the translator beside it",
            "It is of another model:  remove it, or train again.",
        )
    load_weights(model, weights)
    return translator.native.with_model(model.to(translator.native.device))
