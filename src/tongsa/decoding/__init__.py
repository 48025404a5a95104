"""Searching for a translation, step by step, through nothing but the contract of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tongsa.decoding.search import Hypothesis, Search, Special

if TYPE_CHECKING:
    from tongsa.decoding.searching import decode

__all__ = ["Hypothesis", "Search", "Special", "decode"]


def __getattr__(name: str) -> Any:
    """Who only says what to search for, as every engine but the native one, needs no torch."""
    if name == "decode":
        from tongsa.decoding.searching import decode

        return decode
    raise AttributeError(f"module 'tongsa.decoding' has no attribute {name!r}")
