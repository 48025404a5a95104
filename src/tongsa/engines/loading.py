"""Choose and load the engine of a translator directory, without torch if possible."""

from __future__ import annotations

import importlib.util
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tongsa.base.devices import choose_device, device_name
from tongsa.base.errors import UsageError, torch_needed
from tongsa.config import TransformerSection
from tongsa.engines.base import ENGINES, PRECISIONS, Engine
from tongsa.runs.card import Card
from tongsa.text.subwords import Subwords

if TYPE_CHECKING:
    from tongsa.engines.native import NativeEngine

LOGGER = logging.getLogger("tongsa.engines")


class LoadedEngine(NamedTuple):
    """An engine, and a function that creates the reference engine if this is another one."""

    engine: Engine
    native: Callable[[], NativeEngine] | None
    made_with: str
    """Name of the engine, and those of its settings that can change a translation."""


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """The engine that a user wants; `Translator.load` explains the settings."""

    engine: str = "auto"
    precision: str = "auto"
    threads: int | None = None
    device: str = "auto"
    shortlist: bool = False


class Member(NamedTuple):
    """What an engine is loaded from: a translator, alone or as one of an ensemble."""

    directory: Path
    card: Card
    subwords: Subwords


def load_engine(member: Member, settings: EngineSettings) -> LoadedEngine:
    """Load the engine of a translator directory."""
    directory, card, subwords = member
    precision, threads, shortlist = settings.precision, settings.threads, settings.shortlist
    place = device_name(settings.device)
    kind = place.partition(":")[0]  # cuda:1 is cuda
    chosen = choose_engine(settings.engine, precision, card, kind)
    if shortlist and chosen == "native":
        raise UsageError("a shortlist needs CTranslate2", "Leave it out, or use  --engine ctranslate2")

    def native() -> NativeEngine:
        with torch_needed("the native engine"):
            import torch

            from tongsa.engines.native import NativeEngine

        if threads:
            torch.set_num_threads(threads)
        return NativeEngine.load(directory, card, subwords, choose_device(place))

    if chosen == "native":
        made = native()
        return LoadedEngine(made, None, made.name)
    from tongsa.engines.ctranslate2 import CTranslate2Engine

    once = cached(native)
    fast = CTranslate2Engine.load(
        directory,
        card,
        subwords,
        precision=precision,
        threads=threads,
        device=kind,
        native=once,
        shortlist=shortlist,
    )
    return LoadedEngine(fast, once, f"ctranslate2 {fast.precision}{' with a shortlist' if shortlist else ''}")


def load_ensemble(members: Sequence[Member], settings: EngineSettings) -> LoadedEngine:
    """Load several translators as one engine that averages their probabilities at each step: always the native one."""
    refuse_unlike(members)
    if settings.engine == "ctranslate2" or settings.shortlist:
        raise UsageError(
            "an ensemble needs the native engine: CTranslate2 runs one model at a time",
            "Leave out --engine and --shortlist, or translate with one of its members.",
        )
    place = device_name(settings.device)
    choose_engine("native", settings.precision, members[0].card, place.partition(":")[0])
    if settings.engine == "auto":
        LOGGER.warning("CTranslate2 has no ensembles: using the native engine")
    with torch_needed("an ensemble"):
        import torch

        from tongsa.engines.native import NativeEngine
        from tongsa.models.ensemble import Ensemble
    if settings.threads:
        torch.set_num_threads(settings.threads)
    engines = [NativeEngine.load(*member, choose_device(place)) for member in members]
    first = engines[0]
    together = NativeEngine(
        Ensemble([each.model for each in engines]),
        source_pad=first.source_pad,
        target_pad=first.special.start,
        end=first.special.end,
        unwritable=first.special.unwritable,
        batch_tokens=max(1, first.batch_tokens // len(engines)),
    )
    return LoadedEngine(together, None, f"native, an ensemble of {len(engines)}")


def refuse_unlike(members: Sequence[Member]) -> None:
    """Raise an error unless the members translate between the same languages with the same vocabularies."""
    first = members[0]
    for other in members[1:]:
        if (other.card.source, other.card.target) != (first.card.source, first.card.target):
            lines = [f"{each.directory}: {each.card.source} to {each.card.target}" for each in (first, other)]
            raise UsageError("translators of different languages cannot be an ensemble", *lines)
        if _vocabularies(other.subwords) != _vocabularies(first.subwords):
            raise UsageError(
                f"{first.directory} and {other.directory} have different vocabularies, so they cannot be an ensemble",
                "The members of an ensemble must write the same subwords.",
                f"Train another with those of the first:  tongsa train ... --subwords {first.directory} --seed 2",
            )


def _vocabularies(subwords: Subwords) -> tuple[bytes, bytes]:
    return subwords.source.model, subwords.target.model


def cached(make: Callable[[], NativeEngine]) -> Callable[[], NativeEngine]:
    """Create the engine on the first call, and return the same one afterwards."""
    made: list[NativeEngine] = []
    lock = threading.Lock()

    def once() -> NativeEngine:
        with lock:
            if not made:
                made.append(make())
        return made[0]

    return once


def choose_engine(engine: str, precision: str, card: Card, device: str) -> str:
    """Return the name of the engine to load; an impossible combination is an error."""
    if engine not in ENGINES:
        raise UsageError(f"unknown engine: {engine}", f"Engines: {', '.join(ENGINES)}")
    if precision not in PRECISIONS:
        raise UsageError(f"unknown precision: {precision}", f"Precisions: {', '.join(PRECISIONS)}")
    installed = importlib.util.find_spec("ctranslate2") is not None
    if engine == "auto":
        fits = installed and device == "cpu" and isinstance(card.recipe.model, TransformerSection)
        engine = "ctranslate2" if fits and not _experimental(card) else "native"
    if engine == "native" and precision == "int8":
        raise UsageError("the native engine computes in float32", "int8 needs  --engine ctranslate2")
    if engine == "ctranslate2" and not installed:
        raise UsageError("ctranslate2 is not installed", "Install it with:  pip install ctranslate2")
    return engine


def _experimental(card: Card) -> bool:
    """Whether the Transformer is a variant that CTranslate2 does not have; this is logged."""
    found = card.recipe.model.experimental() if isinstance(card.recipe.model, TransformerSection) else []
    if found:
        LOGGER.warning("CTranslate2 does not have this Transformer (%s): using the native engine", "; ".join(found))
    return bool(found)
