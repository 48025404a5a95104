"""The architectures, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tongsa.config import (
    AttentionalSection,
    ByteNetSection,
    ConvS2SSection,
    ModelSection,
    NeuralGPUSection,
    RecurrentSection,
    TransformerSection,
)
from tongsa.models.attentional import Attentional
from tongsa.models.bytenet import ByteNet
from tongsa.models.contracts import Seq2Seq
from tongsa.models.convs2s import ConvS2S
from tongsa.models.neural_gpu import NeuralGPU
from tongsa.models.recurrent import Recurrent
from tongsa.models.transformer import Transformer

MODELS: dict[type[ModelSection], Callable[[Any, int, int | None], Seq2Seq]] = {
    TransformerSection: Transformer,
    RecurrentSection: Recurrent,
    AttentionalSection: Attentional,
    ConvS2SSection: ConvS2S,
    ByteNetSection: ByteNet,
    NeuralGPUSection: NeuralGPU,
}


def build(config: ModelSection, source_size: int, target_size: int | None) -> Seq2Seq:
    """A model with fresh weights; `target_size` is None with a joint vocabulary."""
    return MODELS[type(config)](config, source_size, target_size)
