"""The architectures, by name."""

from __future__ import annotations

from tongsa.config import ModelSection, TransformerSection
from tongsa.models.contract import Seq2Seq
from tongsa.models.transformer import Transformer

MODELS: dict[type[ModelSection], type[Transformer]] = {
    TransformerSection: Transformer,
}


def build(config: ModelSection, source_size: int, target_size: int | None) -> Seq2Seq:
    """A model with fresh weights; `target_size` is None with a joint vocabulary."""
    return MODELS[type(config)](config, source_size, target_size)  # type: ignore[arg-type]
