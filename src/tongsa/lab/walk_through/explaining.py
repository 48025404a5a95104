"""Explain one translation: the walk-through of a Transformer, or the context vector of a recurrent model, as pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tongsa.base.errors import UsageError
from tongsa.base.files import write_atomically
from tongsa.lab.walk_through.context import of_recurrent
from tongsa.lab.walk_through.context_page import draw_context
from tongsa.lab.walk_through.exercises import exercises
from tongsa.lab.walk_through.page import as_values, draw_walk
from tongsa.lab.walk_through.steps import walk_through
from tongsa.lab.walk_through.worksheet import draw_worksheet
from tongsa.models.attentional import Attentional
from tongsa.models.recurrent import Recurrent

if TYPE_CHECKING:
    from tongsa.translation.translator import Translator


@dataclass(frozen=True, kw_only=True)
class Explained:
    """Files to write."""

    page: Path
    values: Path | None = None
    """Every number of the walk-through, as JSON."""
    worksheet: Path | None = None


def explain_sentence(
    translator: Translator, sentence: str, files: Explained, *, layer: int, head: int, language: str
) -> Iterator[Path]:
    """Write the files; yield each that was written."""
    architecture = translator.card.recipe.model.architecture
    if isinstance(translator.native.model, Recurrent | Attentional):
        if files.values or files.worksheet:
            raise UsageError(
                f"numbers and exercises are those of a Transformer, and this is {architecture}",
                "Leave --values and --worksheet out.",
            )
        write_atomically(files.page, draw_context(of_recurrent(translator, sentence), architecture, language))
        yield files.page
        return
    walk = walk_through(translator, sentence, layer=layer, head=head)
    if files.values:
        write_atomically(files.values, json.dumps(as_values(walk), ensure_ascii=False, allow_nan=False) + "\n")
        yield files.values
    if files.worksheet:
        write_atomically(files.worksheet, draw_worksheet(walk, exercises(translator, walk), language))
        yield files.worksheet
    write_atomically(files.page, draw_walk(walk, language))
    yield files.page
