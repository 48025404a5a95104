"""A lexical shortlist: a few likely target pieces for each source piece.

A small model spends most of its time on scoring the whole vocabulary at every step. The source determines which pieces
are likely at all: t(target | source) of IBM model 1 (Brown et al. 1993) is learnt from the ids of the training text,
the likeliest pieces are kept, and the most frequent pieces are always allowed. CTranslate2 calls it a vmap.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tongsa.base.errors import DirectoryError
from tongsa.base.regular import unusual_entries
from tongsa.data.ids import PairIds
from tongsa.data.lexicon import lexicon
from tongsa.runs.directory import Run
from tongsa.text.subwords import Subwords

FILE = "vmap.txt"
"""File name in a CTranslate2 model."""

LIKELIEST = 30
"""Pieces kept for each piece of the source."""
LEAST = 1e-3
"""Pieces below this probability are not kept."""
COMMON = 300
"""Pieces that are always allowed."""
COUNTED = 8_000_000
"""Most tokens among which the commonest are counted."""


def write_shortlist(folder: Path, directory: Path, subwords: Subwords) -> None:
    """Learn from the training ids of a translator directory, and write the file into a CTranslate2 model."""
    pairs = training_ids(directory)
    _check(pairs, subwords, Run(directory).training_ids)
    (folder / FILE).write_text(as_text(learn(pairs, subwords), subwords), encoding="utf-8")


def fingerprint(directory: Path) -> str:
    """Return a value that changes when the training ids are replaced; they may be too large to hash at every start."""
    folder = Run(directory).training_ids
    try:
        found = [(str(path.resolve()), path.stat()) for path in sorted(folder.iterdir())]
    except OSError as error:
        raise _no_training_text(directory) from error
    return repr([(name, status.st_size, status.st_mtime_ns, status.st_ino) for name, status in found])


def training_ids(directory: Path) -> PairIds:
    folder = Run(directory).training_ids
    try:
        for path, what in unusual_entries(folder):
            raise DirectoryError(f"{path} is {what}")
        return PairIds.open(folder)
    except OSError as error:
        raise _no_training_text(directory) from error
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise DirectoryError(f"{folder} is damaged: {error}") from error


def _check(pairs: PairIds, subwords: Subwords, folder: Path) -> None:
    """Raise an error if ids are not those of the vocabulary: the directory may come from elsewhere."""
    for side, vocabulary in ((pairs.source, subwords.source), (pairs.target, subwords.target)):
        offsets = side.offsets
        ordered = len(offsets) == len(pairs) + 1 and offsets[0] == 0 and offsets[-1] == len(side.ids)
        if not ordered or (np.diff(offsets) < 0).any() or (len(side.ids) and side.ids.max() >= len(vocabulary)):
            raise DirectoryError(f"{folder} is damaged: its ids are not those of the subwords")


def _no_training_text(directory: Path) -> DirectoryError:
    return DirectoryError(
        f"{directory} has no training text to learn a shortlist from",
        f"It is learnt from {Run(directory).training_ids}, which training writes.",
        "Without it, leave out --shortlist.",
    )


def learn(pairs: PairIds, subwords: Subwords) -> dict[int | None, list[int]]:
    """Return the target pieces of each source piece, and under None those that are always allowed."""
    width = len(subwords.target)
    left, right, translation = lexicon(pairs, width)
    order = np.lexsort((-translation, left))
    left, right, translation = left[order], right[order], translation[order]
    begins = np.searchsorted(left, np.arange(len(subwords.source) + 1))
    own = {piece: id for id, piece in enumerate(subwords.target.all_pieces())}
    found: dict[int | None, list[int]] = {None: _commonest(pairs, width)}
    for id, piece in enumerate(subwords.source.all_pieces()[:-1]):
        part = slice(begins[id], min(begins[id + 1], begins[id] + LIKELIEST))
        kept = [int(target) for target in right[part][translation[part] >= LEAST]]
        if piece in own and own[piece] not in kept:
            kept.append(own[piece])  # names and numbers are copied
        found[id] = kept
    return found


def as_text(shortlist: dict[int | None, list[int]], subwords: Subwords) -> str:
    """Format for CTranslate2: source piece, tab, target pieces; pieces that are always allowed have no source."""
    left, right = subwords.source.all_pieces(), subwords.target.all_pieces()
    return "".join(
        f"{'' if id is None else left[id]}\t{' '.join(right[target] for target in targets)}\n"
        for id, targets in shortlist.items()
        if targets
    )


def _commonest(pairs: PairIds, width: int) -> list[int]:
    counts = np.bincount(pairs.target.ids[:COUNTED], minlength=width)
    return [int(id) for id in np.argsort(-counts, kind="stable")[:COMMON] if counts[id]]
