"""The weights of a Transformer without torch, and the table of sinusoids."""

from __future__ import annotations

import numpy as np

from tongsa.config import TransformerSection
from tongsa.engines.shapes import shapes
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.runs.weights import Array, read_arrays
from tongsa.text.subwords import Subwords


def read_weights(run: Run, card: Card, config: TransformerSection, subwords: Subwords) -> dict[str, Array]:
    """Read the weights of a Transformer; an error lists those that do not fit the architecture and the subwords."""
    return read_arrays(run, card, shapes(config, subwords))


def sinusoids(length: int, d_model: int) -> Array:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model))          §3.5

    (length, d_model). The twin of `tongsa.models.embeddings.sinusoids`, which models are trained with.
    """
    position = np.arange(length, dtype=np.float64)[:, None]
    rate = 10000.0 ** (-np.arange(0, d_model, 2, dtype=np.float64) / d_model)
    table = np.empty((length, d_model))
    table[:, 0::2] = np.sin(position * rate)
    table[:, 1::2] = np.cos(position * rate)
    return table.astype(np.float32)
