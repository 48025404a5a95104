"""A recipe: everything that decides what a training gives, in five sections.

    [corpus] ─▶ [subwords] ─▶ [model] ─▶ [training] ─▶ [decoding]

Each section is a frozen dataclass and the one place of its defaults; the defaults are the paper's base model.
"""

from __future__ import annotations

from tongsa.config.architectures import (
    ARCHITECTURES,
    AttentionalSection,
    ByteNetSection,
    ConvS2SSection,
    ModelSection,
    NeuralGPUSection,
    RecurrentSection,
    TransformerSection,
)
from tongsa.config.recipe import Recipe, hint, merge, parse_settings, read_toml
from tongsa.config.sections import CorpusSection, DecodingSection, SubwordsSection, TrainingSection

__all__ = [
    "ARCHITECTURES",
    "AttentionalSection",
    "ByteNetSection",
    "ConvS2SSection",
    "CorpusSection",
    "DecodingSection",
    "ModelSection",
    "NeuralGPUSection",
    "Recipe",
    "RecurrentSection",
    "SubwordsSection",
    "TrainingSection",
    "TransformerSection",
    "hint",
    "merge",
    "parse_settings",
    "read_toml",
]
