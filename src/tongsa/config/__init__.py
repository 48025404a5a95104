"""The recipe: everything that determines the result of a training, in five sections.

    [corpus] ─▶ [subwords] ─▶ [model] ─▶ [training] ─▶ [decoding]

Each section is a frozen dataclass that holds its defaults; the defaults are the paper's base model. The
sections of architectures other than the Transformer are in models/, beside their models.
"""

from __future__ import annotations

from tongsa.config.architectures import ModelSection, TransformerSection, architecture_names
from tongsa.config.recipe import Recipe, hint, merge, parse_settings, read_toml
from tongsa.config.sections import CorpusSection, DecodingSection, SubwordsSection, TrainingSection

__all__ = [
    "CorpusSection",
    "DecodingSection",
    "ModelSection",
    "Recipe",
    "SubwordsSection",
    "TrainingSection",
    "TransformerSection",
    "architecture_names",
    "hint",
    "merge",
    "parse_settings",
    "read_toml",
]
