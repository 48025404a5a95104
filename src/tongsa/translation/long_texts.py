"""Texts longer than any sentence that a model has learnt from: cut into sentences, and put together again."""

from __future__ import annotations

NOTE = "translated sentence by sentence"


def cut(text: str, source: str, target: str) -> list[tuple[str, str]]:
    """The sentences, each with what stands between it and the next in the target language."""
    from tongsa.text.sentences import gap, split  # not before a long text comes: documents are many modules

    parts = split(text, source)
    return [(part.rstrip(), gap(part[len(part.rstrip()) :], source, target)) for part in parts]


def together(texts: list[str], gaps: list[str]) -> str:
    return "".join(text + between for text, between in zip(texts, gaps, strict=True)).rstrip()
