"""`tongsa corpus clean`: write the pairs without faults, and a file of the removed pairs with the reasons."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tongsa.base.errors import UsageError
from tongsa.base.files import replacing_together
from tongsa.base.progress import Show
from tongsa.corpus.faults import FAULTS, REMOVED
from tongsa.corpus.scan import scan, take_sample
from tongsa.formats.pairs import Corpus, Tally
from tongsa.formats.writers import text_file, writing


def chosen_faults(only: Sequence[str], keep: Sequence[str], also: Sequence[str]) -> list[str]:
    """The faults to remove; an unknown name is an error."""
    unknown = [name for name in (*only, *keep, *also) if name not in FAULTS]
    if unknown:
        raise UsageError(f"unknown fault: {unknown[0]}", *(f"{name:12} {what}" for name, what in FAULTS.items()))
    return [name for name in FAULTS if name in (only or [*REMOVED, *also]) and name not in keep]


def clean_corpus(
    corpus: Corpus,
    out: Path,
    removed: Path,
    faults: Sequence[str],
    *,
    workers: int | None = None,
    seed: int = 1,
    show: Show,
) -> tuple[Tally, Counter[str]]:
    """Write both files. Return the removed pairs by their first fault, and the changes made while writing."""
    sample = take_sample(corpus, show, seed)
    tally = Tally()
    changed: Counter[str] = Counter()
    with (
        replacing_together(),
        writing(out, corpus.reading, changed) as write,
        text_file(removed) as bin_,
    ):
        for block in scan(corpus, sample, workers=workers, show=show):
            for pair, found in zip(block.pairs, block.faults, strict=True):
                tally.seen += 1
                why = [name for name in faults if name in found]
                if not why:
                    write(pair)
                    continue
                tally.drop(why[0], pair.where)
                entry = {"file": str(pair.where.file), "line": pair.where.line, "why": why}
                texts = {corpus.reading.source: pair.source, corpus.reading.target: pair.target}
                bin_.write(json.dumps({**entry, "translation": texts}, ensure_ascii=False) + "\n")
    return tally, changed
