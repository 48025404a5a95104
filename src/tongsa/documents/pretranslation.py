"""Outcomes from the translation memory, before anything is translated.

An exact match is used as it is. An entry in which only numbers or placeholders differ is adapted, and a similar one is
used if the user allows it; both are marked for review.
"""

from __future__ import annotations

from collections import Counter

from tongsa.documents.memory import Memory
from tongsa.documents.placeholders import mask
from tongsa.documents.tagged import tagged, untagged
from tongsa.formats.segments import Content, Near, Outcome, Segment, plain

ADAPTED = 0.95
"""Confidence of an entry whose numbers or placeholders were replaced."""


def from_memory(segment: Segment, memory: Memory, fuzzy: float | None) -> Outcome | None:
    """Return an outcome if the memory has a translation with the same marks; similar entries count from `fuzzy` on."""
    source = tagged(segment.content) if memory.entries else None
    if source is None:
        return None
    if (exact := memory.exact(source)) is not None:
        content = _written(segment, source, exact)
        return Outcome(content=content, state="memory", confidence=1.0) if content else None
    if adapted := memory.adapted(source):
        text, near = adapted
        if content := _written(segment, source, text):
            note = "from the translation memory, with numbers or placeholders replaced"
            return Outcome(content=content, state="fuzzy", confidence=ADAPTED, notes=(note,), near=near)
    similar = memory.near(source, fuzzy) if fuzzy else None
    if similar and (content := _written(segment, source, similar.target)):
        note = f"from the translation memory, the translation of a similar text ({similar.likeness:.0%})"
        return Outcome(content=content, state="fuzzy", confidence=similar.likeness, notes=(note,), near=similar)
    return None


def near_entry(segment: Segment, memory: Memory) -> Near | None:
    """Return the most similar entry, to be shown beside a translation."""
    return memory.near(tagged(segment.content) or plain(segment.content)) if memory.entries else None


def _written(segment: Segment, source: str, target: str) -> Content | None:
    """Return a translation from the memory with the marks of the segment; None if marks or placeholders differ."""
    before, after = source[: len(source) - len(source.lstrip())], source[len(source.rstrip()) :]
    text = before + target.strip() + after
    content = untagged(text, segment.content)
    if content is None or _placeholders(source) != _placeholders(text):
        return None
    return content if segment.accepts is None or segment.accepts(plain(content)) else None


def _placeholders(text: str) -> Counter[str]:
    return Counter(mark.text for masked in mask((text,)) for mark in masked.marks.values())
