"""The memory network's language model beside a trigram: the same words, the same text, every word counted."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tongsa.base.errors import UsageError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.lab.language_model.saving import (
    CHECKPOINT,
    MODEL,
    Progress,
    read_checkpoint,
    settings_of_checkpoint,
    write_checkpoint,
    write_model,
)
from tongsa.lab.language_model.training import Plan, Trainer, looks_back, perplexity
from tongsa.lab.language_model.trigram import Trigram
from tongsa.lab.language_model.words import Words, read_text
from tongsa.models.memory_language_model import MemoryLanguageModel, MemoryLanguageModelShape


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a command asks for."""

    text: str
    lines: int | None = None
    """Of the text, from its beginning (None: all)."""
    vocabulary: int = 10_000
    d: int = 150
    hops: int = 6
    memories: int = 50
    """The paper has 100 to 200, over whole articles."""
    plan: Plan = field(default_factory=Plan)
    encoding: str = "utf-8"

    def problems(self) -> list[str]:
        least = {"lines": 1, "d": 2, "hops": 1, "memories": 1}
        found = [f"{name} must be at least {low}" for name, low in least.items() if _below(getattr(self, name), low)]
        found += ["epochs must be at least 1"] if self.plan.epochs < 1 else []
        return found + ([] if 0 <= self.plan.dropout < 1 else ["dropout lies between 0 and 1"])


def _below(value: int | None, low: int) -> bool:
    return value is not None and value < low


@dataclass(frozen=True)
class Result:
    """Two models, measured."""

    words: int
    """Of the training text, the ends of lines included."""
    vocabulary: int
    held_out: dict[str, int]
    """Words of each held-out text, by its name: every one of them is counted."""
    unknown: dict[str, float]
    """Share of <unk> among them."""
    trigram: dict[str, float]
    """Perplexities."""
    memory_network: dict[str, float]
    parameters: int
    seconds: float
    """Of training the memory network."""
    curve: list[float]
    looks_back: list[list[float]]
    """By hop: mean weight of the word just before, of the one before that, ..."""


def run(settings: Settings, held_out: Mapping[str, Path], out: Path, resume: bool, show: Show) -> Result:
    """Count, train and measure; the first held-out text is watched while training, and chooses nothing."""
    if problems := settings.problems():
        raise UsageError("this language model cannot be trained", *problems)
    if not resume and ((out / MODEL).exists() or (out / CHECKPOINT).exists()):
        raise UsageError(f"{out} holds a language model already", "Take another --out, or go on with it:  --resume")
    lines = read_text(Path(settings.text), settings.lines, settings.encoding)
    words = Words.of(lines, settings.vocabulary)
    stream = words.stream(lines)
    held = {name: words.stream(read_text(path, None, settings.encoding)) for name, path in held_out.items()}
    show.say(f"{len(lines):,} lines, {len(stream) - 1:,} words to learn from, a vocabulary of {len(words):,}")
    trigram = Trigram(stream, len(words))
    baseline = {name: trigram.perplexity(part) for name, part in held.items()}
    show.say("trigram: " + ", ".join(f"{name} {value:.2f}" for name, value in baseline.items()))
    tensors = {name: torch.from_numpy(part) for name, part in held.items()}
    model, progress = _train(settings, torch.from_numpy(stream), next(iter(tensors.values())), words, out, resume, show)
    result = Result(
        words=len(stream) - 1,
        vocabulary=len(words),
        held_out={name: len(part) - 1 for name, part in held.items()},
        unknown={name: float(np.mean(part[1:] == 0)) for name, part in held.items()},
        trigram=baseline,
        memory_network={name: perplexity(model, part) for name, part in tensors.items()},
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        seconds=progress.seconds,
        curve=progress.curve,
        looks_back=looks_back(model, next(iter(tensors.values()))).tolist(),
    )
    values: dict[str, Any] = {"settings": asdict(settings), **asdict(result)}
    write_atomically(out / "results.json", json.dumps(values, indent=2) + "\n")
    return result


def _train(
    settings: Settings, stream: Tensor, valid: Tensor, words: Words, out: Path, resume: bool, show: Show
) -> tuple[MemoryLanguageModel, Progress]:
    plan = settings.plan
    torch.manual_seed(plan.seed)
    shape = MemoryLanguageModelShape(words=len(words), d=settings.d, hops=settings.hops, memories=settings.memories)
    trainer = Trainer(MemoryLanguageModel(shape, plan.dropout), stream, plan)
    progress = Progress(settings=_plain(settings), epochs=0, seconds=0.0, curve=[])
    if resume and (out / CHECKPOINT).exists():
        _check_same(settings_of_checkpoint(out), progress.settings, out)
        progress = read_checkpoint(out, trainer)
        show.say(f"going on after epoch {progress.epochs}")
    for number in range(progress.epochs, plan.epochs):
        began = time.monotonic()
        _epoch(trainer, number, show)
        curve = [*progress.curve, perplexity(trainer.model, valid)]
        show.say(f"epoch {number + 1} of {plan.epochs}: perplexity {curve[-1]:.2f} on held-out text")
        progress = Progress(progress.settings, number + 1, progress.seconds + time.monotonic() - began, curve)
        write_checkpoint(out, trainer, progress)
    write_model(out, trainer.model, words)
    return trainer.model.eval(), progress


def _epoch(trainer: Trainer, number: int, show: Show) -> None:
    words, smooth = 0, math.nan
    with show.bar(f"epoch {number + 1}", len(trainer.stream) - 1, "words") as bar:
        for count, loss in trainer.epoch(number):
            words += count
            smooth = loss if math.isnan(smooth) else 0.98 * smooth + 0.02 * loss
            bar.advance(count, f"perplexity {math.exp(smooth):.1f} while learning")


def _plain(settings: Settings) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(asdict(settings)))
    return plain


def _check_same(before: dict[str, Any], now: dict[str, Any], out: Path) -> None:
    different = [key for key in now if before.get(key) != now[key]]
    if different:
        raise UsageError(
            f"{out} was begun with other settings: {', '.join(different)}", "Take another --out, or the same options."
        )
