"""Choose and load the engine of a translator directory, without torch if possible."""

from __future__ import annotations

import importlib.util
import logging
import threading
from collections.abc import Callable
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


def load_engine(
    directory: Path,
    card: Card,
    subwords: Subwords,
    *,
    engine: str,
    precision: str,
    threads: int | None,
    device: str,
    shortlist: bool,
) -> LoadedEngine:
    """Load the engine of a translator directory; `Translator.load` explains the settings."""
    place = device_name(device)
    kind = place.partition(":")[0]  # cuda:1 is cuda
    chosen = choose_engine(engine, precision, card, kind)
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
