"""Decoding: greedy search, beam search and sampling for any model that follows the contract.

May import models.contracts and the rooms below models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tongsa.decoding.search import Hypothesis, Search, Special

if TYPE_CHECKING:
    from tongsa.decoding.searching import continue_prompts, decode

__all__ = ["Hypothesis", "Search", "Special", "continue_prompts", "decode"]


def __getattr__(name: str) -> Any:
    """Import lazily: other engines than the native one need only the options of a search, and no torch."""
    if name in ("continue_prompts", "decode"):
        from tongsa.decoding import searching

        return getattr(searching, name)
    raise AttributeError(f"module 'tongsa.decoding' has no attribute {name!r}")
