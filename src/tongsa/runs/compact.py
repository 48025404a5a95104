"""The compact form of a run directory: a quarter of the size, to be passed on or shipped with a program.

A matrix is stored as int8 with a float32 scale for each row, `round(row / scale)` with `scale = max |row| / 127`:
what CTranslate2 does when it compiles int8, so that an engine of 8 bits compiled from it is the same as one compiled
from the exact weights. Vectors (biases, norms) stay as they are. Only what is needed to translate or to fine-tune is
written: the card, the subwords and the weights.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path, PurePath

import numpy as np
from numpy.typing import NDArray

from tongsa.base.files import make_directory, write_atomically
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.runs.header import SCALE
from tongsa.runs.weights import read_arrays

LARGEST = 127
"""Largest absolute value of a rounded weight."""

ROUNDED = "rounded to int8"


def rounded(weights: dict[str, NDArray[np.generic]]) -> dict[str, NDArray[np.generic]]:
    """Return the tensors to store: matrices as int8 with a scale for each row, all others unchanged."""
    found: dict[str, NDArray[np.generic]] = {}
    for name, array in weights.items():
        if array.ndim < 2 or not array.size:
            found[name] = array
            continue
        exact = array.astype(np.float32)
        rows = exact.reshape(len(exact), -1)
        scale = np.abs(rows).max(axis=1) / np.float32(LARGEST)
        scale[scale == 0] = 1.0  # a row of zeros, such as the embedding of <pad>
        found[name] = np.rint(rows / scale[:, None]).astype(np.int8).reshape(array.shape)
        found[name + SCALE] = scale
    return found


def write_compact(run: Run, out: Path, *, licence: str = "") -> Card:
    """Write the compact form of a run directory; `licence` is noted in its card."""
    made = Run(out)
    made.refuse_to_overwrite()
    card = run.read_card()
    weights = read_arrays(run, card, None)
    make_directory(out)
    if run.words_file.is_file():
        write_atomically(made.words_file, json.dumps(run.read_words(card), ensure_ascii=False))
    else:
        subwords = run.read_subwords(card)
        subwords.save(out)
        frequencies = run.read_frequencies(card, subwords)
        if frequencies:
            write_atomically(made.frequencies_file, frequencies.content)
    training = dataclasses.replace(
        card.training,
        corpora=tuple(dict.fromkeys(map(_named, card.training.corpora))),
        weights=", ".join(filter(None, (card.training.weights, ROUNDED))),
        licence=licence or card.training.licence,
    )
    made.write_translator(dataclasses.replace(card, compact=True, training=training), weights)
    return made.read_card()


def _named(corpus: str) -> str:
    """Return the name of a corpus without the directories of this machine."""
    path = PurePath(corpus)
    return str(PurePath(*path.parts[-2:])) if path.is_absolute() else corpus
