"""Tongsa: parallel text in, a private translator out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Translation", "Translator", "__version__", "train"]

if TYPE_CHECKING:
    from tongsa.training.run import train
    from tongsa.translation.translator import Translation, Translator


def __getattr__(name: str) -> Any:
    """torch is imported when it is first needed: `tongsa --help` answers without it."""
    if name in ("Translator", "Translation"):
        from tongsa.translation import translator

        return getattr(translator, name)
    if name == "train":
        from tongsa.training.run import train

        return train
    raise AttributeError(f"module 'tongsa' has no attribute {name!r}")
