"""Searching for what a model writes, step by step, through nothing but its contract.

May import models.contracts and the rooms below models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tongsa.decoding.search import Hypothesis, Search, Special

if TYPE_CHECKING:
    from tongsa.decoding.searching import continue_prompts, decode

__all__ = ["Hypothesis", "Search", "Special", "continue_prompts", "decode"]


def __getattr__(name: str) -> Any:
    """Engines other than the native one only describe a search, and do not need torch for that."""
    if name in ("continue_prompts", "decode"):
        from tongsa.decoding import searching

        return getattr(searching, name)
    raise AttributeError(f"module 'tongsa.decoding' has no attribute {name!r}")
