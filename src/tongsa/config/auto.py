"""The recipe `auto`: chosen from the amount of text, the time and the speed of the machine.

docs/auto.md has the measurements behind the numbers here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tongsa.config import Recipe, merge, parse_settings
from tongsa.config.presets import PRESETS
from tongsa.config.sections import FIRST, SAMPLED

CHARACTERS_PER_TOKEN = 3.5
"""With a vocabulary of some thousand pieces; Korean has fewer, so its epochs are overestimated."""

TOKENS_PER_WEIGHT = 2.5
"""Target tokens that a weight of the layers should see in the time: with fewer, a smaller model learns more."""

SMALLEST_VOCABULARY, LARGEST_VOCABULARY = 300, 16_000
"""216,000 pairs are learnt better with the largest than with 8,000 or 32,000 pieces."""

CHARACTERS_PER_PIECE = 40
"""Characters of text that a piece needs at least: 2,000 pairs are learnt much better with 2,000 pieces than 450."""

UPDATES = 20_000
"""Updates that a training should have; a short one has smaller batches instead."""

SMALLEST_BATCH, LARGEST_BATCH = 1536, 4096

FEWEST_TOKENS = 6000.0 * SMALLEST_BATCH
"""Target tokens that even the least text is read for, again and again: BLEU rises long after the loss does."""

GPU_SPEED = 1e13
"""Operations per second that are expected of a GPU: a guess, since none was measured."""

LENGTH_PENALTY = 1.2
"""The paper's 0.6 lets small models write too little: 4 to 9% less than the references."""

PEAK = 0.006
"""Highest learning rate of Muon with d_model = 128; it falls with the square root of the width."""

DECAY_EPOCHS = 3.0
"""Epochs in which weight decay alone, at the highest rate, would shrink a matrix to 1/e (Wang and Aitchison 2024,
"How to set AdamW's weight decay as you scale model and dataset size": as many for any amount of text)."""

FEW_EPOCHS = 10.0
"""Below this there is no weight decay: text that is seen so seldom is not learnt by heart."""

DIVERSIFY_EPOCHS = 25.0
"""From this on a text is translated by its own translators: new pairs teach more than reading the same ones again."""

DIVERSIFY_PAIRS = 20_000
"""Fewest pairs for that: translators of 2,000 pairs teach each other nonsense, those of 29,000 teach well."""

DIRECTIONS = 3
"""Times as many pairs as the text has: the real ones, and its translations in both directions."""

MOST_DECAY = 2.0
"""What 2,000 pairs get; more was not tried."""


@dataclass(frozen=True, kw_only=True)
class Situation:
    """What is known before a training begins."""

    pairs: int
    characters: int
    """Of both languages together."""
    gpu: bool = False
    minutes: float | None = None
    """The budget; None if there is none."""
    can_diversify: bool = False
    """Whether the text can be translated by its own translators (`training.diversify`)."""
    speed: float = 6e10
    """Floating-point operations per second that a training makes on this machine."""

    @property
    def tokens(self) -> float:
        """Target tokens of an epoch, roughly."""
        return max(1.0, self.characters / 2 / CHARACTERS_PER_TOKEN)

    @property
    def operations(self) -> float:
        """Floating-point operations that the budget pays for."""
        return math.inf if self.minutes is None else self.speed * 60 * self.minutes


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The recipe that `auto` chose, and the reasons."""

    recipe: Recipe
    reasons: list[str]


def choose_recipe(situation: Situation, settings: Mapping[str, str]) -> Choice:
    """Choose the model that learns most from this text in this time, and how to train it."""
    if situation.gpu and situation.pairs >= 400_000:
        return _choose_base(situation, settings)
    size = _vocabulary(situation)
    name = _model(situation, size)
    diversify = _diversifies(situation, name, size, settings)
    given, situation = situation, _diversified(situation) if diversify else situation
    planned = _planned(situation, name, size)
    epochs = planned / situation.tokens
    batch = _rounded(min(LARGEST_BATCH, max(SMALLEST_BATCH, planned / UPDATES)), 256)
    updates = max(300, round(planned / batch))
    another = "model.architecture" in settings
    chosen: dict[str, Any] = {
        "corpus": {"clean": True},
        "subwords": {"size": size},
        "model": {"dropout": _dropout(epochs)},
        "training": {
            **({} if another else {"initial_weights": "lexicon"}),
            "softmax": "sampled",
            "diversify": diversify,
            **({} if another or "training.optimizer" in settings else _muon(name, epochs, updates)),
            "batch_tokens": batch,
            "warmup": max(30, min(1000, updates // 25)),
            # The time is what ends a training with --minutes, unless more epochs would be of no use.
            "updates": max(300, round(_epochs(situation) * situation.tokens / batch)),
        },
        "decoding": {"length_penalty": LENGTH_PENALTY},
    }
    recipe = Recipe.from_values(merge(merge(PRESETS[name], chosen), parse_settings(settings)), "recipe auto")
    minutes = planned * operations_per_token(name, size) / situation.speed / 60
    decay = f", weight decay {recipe.training.weight_decay:g}" if recipe.training.weight_decay else ""
    reasons = [
        f"model {name}: {given.pairs:,} pairs, {_in_words(given)}",
        f"vocabulary {recipe.subwords.size:,}: {given.characters:,} characters of text",
        *_why_diversified(given, name, size, diversify),
        f"dropout {recipe.model.dropout}{decay}: about {epochs:,.1f} epochs",
        f"updates of {recipe.training.batch_tokens:,} target tokens, at most {recipe.training.updates:,}: "
        f"about {max(minutes, 1):,.0f} min here",
    ]
    return Choice(recipe=recipe, reasons=reasons)


def _planned(situation: Situation, name: str, vocabulary: int) -> float:
    """Target tokens that a training reads: those of all epochs, or as many as the time allows."""
    return min(_epochs(situation) * situation.tokens, _tokens_in_time(situation, name, vocabulary))


def _diversifies(situation: Situation, name: str, vocabulary: int, settings: Mapping[str, str]) -> bool:
    """Whether the text is translated by its own translators: little text, and time to read it many times."""
    if "training.diversify" in settings:
        return settings["training.diversify"] == "true"
    if not situation.can_diversify or situation.minutes is None or situation.gpu:
        return False
    if situation.pairs < DIVERSIFY_PAIRS:
        return False
    return _planned(situation, name, vocabulary) >= DIVERSIFY_EPOCHS * situation.tokens


def _diversified(situation: Situation) -> Situation:
    """The situation of the training that learns from the made pairs too."""
    return replace(
        situation,
        pairs=DIRECTIONS * situation.pairs,
        characters=DIRECTIONS * situation.characters,
        minutes=situation.minutes and (1 - FIRST) * situation.minutes,
    )


def _why_diversified(situation: Situation, name: str, vocabulary: int, diversify: bool) -> list[str]:
    if not diversify:
        return []
    epochs = _planned(situation, name, vocabulary) / situation.tokens
    first = f"{FIRST:.0%} of the time is for two translators that translate it"
    return [f"made pairs besides: the text would be read {epochs:,.0f} times; {first}"]


def _choose_base(situation: Situation, settings: Mapping[str, str]) -> Choice:
    """The paper's base model: much text and a GPU."""
    values = merge({"corpus": {"clean": True}, "subwords": {"size": 32_000}}, parse_settings(settings))
    recipe = Recipe.from_values(values, "recipe auto")
    reasons = [
        f"model base: {situation.pairs:,} pairs and a GPU",
        f"vocabulary {recipe.subwords.size:,}: {situation.characters:,} characters of text",
        f"dropout {recipe.model.dropout}: enough data",
        f"{recipe.training.updates:,} updates of {recipe.training.batch_tokens:,} target tokens",
    ]
    return Choice(recipe=recipe, reasons=reasons)


def operations_per_token(name: str, vocabulary: int) -> float:
    """Floating-point operations of training a preset with a sampled softmax on a target token and a source token."""
    return 6.0 * (_weights(name) + int(PRESETS[name]["model"]["d_model"]) * SAMPLED * vocabulary)


def _weights(name: str) -> int:
    """Weights in the layers of a preset; every token meets nearly all of them once."""
    model = PRESETS[name]["model"]
    square, network = model["d_model"] ** 2, 2 * model["d_model"] * model["d_ff"]
    return int(model["encoder_layers"] * (4 * square + network) + model["decoder_layers"] * (8 * square + network))


def _muon(name: str, epochs: float, updates: int) -> dict[str, Any]:
    """Muon, with its learning rate and decay; other optimizers and architectures have those of the preset."""
    peak = round(PEAK * math.sqrt(128 / PRESETS[name]["model"]["d_model"]), 4)
    decay = 0.0 if epochs < FEW_EPOCHS else min(MOST_DECAY, epochs / (DECAY_EPOCHS * updates * peak))
    return {"optimizer": "muon", "schedule": "trapezoid", "peak": peak, "weight_decay": round(decay, 2)}


def _model(situation: Situation, vocabulary: int) -> str:
    """The largest model that the text can teach, and that sees enough of it in the time."""
    for name in ("small", "mini") if situation.pairs >= 60_000 else ():
        if _tokens_in_time(situation, name, vocabulary) >= TOKENS_PER_WEIGHT * _weights(name):
            return name
    return "tiny"


def _tokens_in_time(situation: Situation, name: str, vocabulary: int) -> float:
    return situation.operations / operations_per_token(name, vocabulary)


def _vocabulary(situation: Situation) -> int:
    """More text bears a larger vocabulary. Very little text may not have that many different words."""
    size = min(LARGEST_VOCABULARY, max(SMALLEST_VOCABULARY, _rounded(46 * math.sqrt(situation.pairs), 100)))
    return min(size, max(SMALLEST_VOCABULARY, situation.characters // CHARACTERS_PER_PIECE))


def _epochs(situation: Situation) -> float:
    """Passes over the text after which little more is learnt; little text is worth more of them."""
    return max(FEWEST_TOKENS / situation.tokens, 1000 / math.sqrt(math.sqrt(situation.pairs)))


def _dropout(epochs: float) -> float:
    """Text that is seen often needs more of it, text that is seen once none."""
    return min(0.3, round(0.04 * math.log2(1 + epochs), 2))


def _rounded(value: float, step: int) -> int:
    return round(value / step) * step


def _in_words(situation: Situation) -> str:
    speed = f"{situation.speed / 1e9:,.0f} GFLOP/s"
    return speed if situation.minutes is None else f"{situation.minutes:g} minutes at {speed}"
