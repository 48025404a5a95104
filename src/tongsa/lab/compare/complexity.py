"""Table 1 of the paper, with the numbers of the models that are compared.

n is the length of a sequence, d the width of a layer, k the width of a kernel. The formulas are those of a layer; the
numbers beside them are what they give for a test sentence of mean length and this model's d and k, and are orders, as
the formulas are: constants (gates, heads, both directions) are left out. What a whole encoder can see is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tongsa.config import (
    AttentionalSection,
    ByteNetSection,
    ConvS2SSection,
    ModelSection,
    NeuralGPUSection,
    RecurrentSection,
    TransformerSection,
)


@dataclass(frozen=True)
class Layer:
    """A row of Table 1: formulas, and what they give for n, d, k."""

    kind: str
    complexity: str
    sequential: str
    path: str
    operations: Callable[[float, float, float], float]
    steps: Callable[[float, float], float]
    longest: Callable[[float, float], float]


SELF_ATTENTION = Layer("self-attention", "n²·d", "1", "1", lambda n, d, k: n * n * d, lambda n, k: 1, lambda n, k: 1)
RECURRENT = Layer("recurrent", "n·d²", "n", "n", lambda n, d, k: n * d * d, lambda n, k: n, lambda n, k: n)
CONVOLUTION = Layer(
    "convolutional", "k·n·d²", "1", "n/k", lambda n, d, k: k * n * d * d, lambda n, k: 1, lambda n, k: n / k
)
DILATED = Layer(
    "dilated convolutional",
    "k·n·d²",
    "1",
    "log_k(n)",
    lambda n, d, k: k * n * d * d,
    lambda n, k: 1,
    lambda n, k: math.log(max(n, k), max(k, 2)),
)
# Not a row of the paper's: one unit is a convolution over all n positions, and it is applied n times.
ACTIVE_MEMORY = Layer(
    "convolutional, n times over", "k·n²·d²", "n", "n/k", lambda n, d, k: k * n * n * d * d, lambda n, k: n,
    lambda n, k: n / k,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Row:
    """A model's line of the table."""

    name: str
    kind: str
    layers: str
    """Of encoder and decoder."""
    d: int
    k: int | None
    complexity: str
    operations: float
    sequential: str
    steps: float
    path: str
    longest: float
    decoder_path: str
    """From a source position to a target position."""
    sees: int | None
    """Source positions that one output of this encoder can see; None for all of them."""


def row(name: str, section: ModelSection, n: float) -> Row:
    layer, layers, d, k, way, sees = _facts(section, n)
    width = float(k or 1)
    return Row(
        name=name,
        kind=layer.kind,
        layers=layers,
        d=d,
        k=k,
        complexity=layer.complexity,
        operations=layer.operations(n, d, width),
        sequential=layer.sequential,
        steps=layer.steps(n, width),
        path=layer.path,
        longest=layer.longest(n, width),
        decoder_path=way,
        sees=sees,
    )


def _facts(section: ModelSection, n: float) -> tuple[Layer, str, int, int | None, str, int | None]:
    """Layer, layers, d, k, the way from source to target, and what the encoder sees."""
    attends, one_vector = "1, by attention", "up to 2n, through one vector"
    match section:
        case TransformerSection():
            layers = f"{section.encoder_layers} + {section.decoder_layers}"
            return SELF_ATTENTION, layers, section.d_model, None, attends, None
        case AttentionalSection():
            return RECURRENT, f"{section.layers} + {section.layers}", section.units, None, attends, None
        case RecurrentSection():
            return RECURRENT, f"{section.layers} + {section.layers}", section.units, None, one_vector, None
        case ConvS2SSection():
            layers = f"{section.encoder_layers} + {section.decoder_layers}"
            sees = 1 + section.encoder_layers * (section.kernel - 1)
            return CONVOLUTION, layers, section.channels, section.kernel, attends, sees
        case ByteNetSection():
            layers = f"{len(section.dilations)} + {len(section.dilations)}"
            sees = 1 + sum(section.dilations) * (section.kernel - 1)
            return DILATED, layers, section.inner, section.kernel, "log_k(n), column on column", sees
        case NeuralGPUSection():
            sees = 1 + round(n) * section.layers * (section.kernel - 1)
            layers = f"{section.layers} × n + {section.layers} × n"
            return ACTIVE_MEMORY, layers, section.d_model, section.kernel, "n/k, through the image", sees
    return RECURRENT, "–", section.d_model, None, "–", None
