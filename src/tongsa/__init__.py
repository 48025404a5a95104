"""Tongsa: parallel text in, a private translator out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "TranslateOptions",
    "Translation",
    "Translator",
    "__version__",
    "attention_html",
    "train",
    "translate_document",
]

if TYPE_CHECKING:
    from tongsa.documents import translate_document
    from tongsa.pages.attention import frame as attention_html
    from tongsa.training.run import train
    from tongsa.translation.options import TranslateOptions
    from tongsa.translation.translator import Translation, Translator

_PLACES = {
    "TranslateOptions": ("tongsa.translation.options", "TranslateOptions"),
    "Translation": ("tongsa.translation.translator", "Translation"),
    "Translator": ("tongsa.translation.translator", "Translator"),
    "attention_html": ("tongsa.pages.attention", "frame"),
    "train": ("tongsa.training.run", "train"),
    "translate_document": ("tongsa.documents", "translate_document"),
}
"""Where each name is found when it is first needed: `tongsa --help` answers without torch."""


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'tongsa' has no attribute {name!r}")
    module, attribute = _PLACES[name]
    return getattr(import_module(module), attribute)
