"""Translation memory: exact matches, entries in which only numbers or placeholders differ, and similar entries."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

from tongsa.formats.pairs import Reading, open_corpus
from tongsa.formats.segments import Languages, Near
from tongsa.text.lines import tidy
from tongsa.text.placeholders import find

LIKE = 0.75
"""Least similarity (the ratio of difflib) at which an entry is shown."""

CANDIDATES = 8
"""Number of entries compared letter by letter: those that share most words with the segment."""

LONGEST = 2000
"""Characters of the longest text that is compared letter by letter: the time grows with the square of the length."""

COMMON = 2000
"""Words in more entries than this are ignored in the search."""

_NUMBER = re.compile(r"\d++(?:[.,'\u00a0\u202f]\d++)*+")
_MAY_HAVE_SLOTS = re.compile(r"[\d<>&{}$%`@:]|www\.")
_SLOT = "\0"
"""Represents a number or a placeholder in a pattern."""


@dataclass
class Memory:
    """Sources and targets, indexed by the exact source, by its pattern and by its words."""

    entries: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """What the files have that is not used: units that are unfinished, for example."""
    _exact: dict[str, str] = field(default_factory=dict)
    _patterns: dict[str, int] = field(default_factory=dict)
    _searched: int = 0
    """Number of entries whose patterns are indexed: they are needed only for texts with numbers or placeholders."""
    _words: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def read(cls, paths: Iterable[Path], languages: Languages) -> Memory:
        memory = cls()
        for path in paths:
            corpus = open_corpus([path], Reading(source=languages.source, target=languages.target))
            for pair in corpus:
                memory.add(pair.source, pair.target)
            memory.left_out += corpus.left_out.lines()
        return memory

    def add(self, source: str, target: str) -> None:
        """Add an entry; the first translation of a source is the one used."""
        key = tidy(source)
        if not key or not target.strip() or key in self._exact:
            return
        self._exact[key] = target
        for word in set(key.lower().split()):
            self._words[word].append(len(self.entries))
        self.entries.append((key, target))

    def exact(self, source: str) -> str | None:
        return self._exact.get(tidy(source))

    def adapted(self, source: str) -> tuple[str, Near] | None:
        """Return a translation made from an entry in which only numbers or placeholders differ, and the entry."""
        key = tidy(source)
        pattern, slots = _pattern(key)
        if not slots:
            return None
        for index in range(self._searched, len(self.entries)):
            known, its_slots = _pattern(self.entries[index][0])
            if its_slots:
                self._patterns.setdefault(known, index)
        self._searched = len(self.entries)
        if pattern not in self._patterns:
            return None
        entry, target = self.entries[self._patterns[pattern]]
        written = _with_slots(target, _pattern(entry)[1], slots)
        if written is None:
            return None
        return written, Near(source=entry, target=target, likeness=_likeness(key, entry))

    def near(self, source: str, least: float = LIKE) -> Near | None:
        """Return the entry most similar to a source that is not in the memory."""
        key = tidy(source)
        if len(key) > LONGEST:
            return None
        shared: Counter[int] = Counter()
        for word in set(key.lower().split()):
            if word in self._words and len(self._words[word]) <= COMMON:
                shared.update(self._words[word])
        best: Near | None = None
        for index, _ in shared.most_common(CANDIDATES):
            entry, target = self.entries[index]
            if min(len(entry), len(key)) < least / 2 * max(len(entry), len(key)):
                continue
            likeness = _likeness(key, entry)
            if likeness >= least and (best is None or likeness > best.likeness):
                best = Near(source=entry, target=target, likeness=likeness)
        return best


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio() if len(one) <= LONGEST else LIKE


def _pattern(text: str) -> tuple[str, list[str]]:
    """Return the text with a slot for each number and placeholder, and what is in the slots."""
    parts: list[str] = []
    slots: list[str] = []
    end = 0
    if not _MAY_HAVE_SLOTS.search(text) or _SLOT in text:
        return text, slots

    def numbers(piece: str) -> None:
        slots.extend(_NUMBER.findall(piece))
        parts.append(_NUMBER.sub(_SLOT, piece))

    for placeholder in find(text):
        numbers(text[end : placeholder.start])
        slots.append(placeholder.text)
        parts.append(_SLOT)
        end = placeholder.end
    numbers(text[end:])
    return "".join(parts), slots


def _with_slots(target: str, old: list[str], new: list[str]) -> str | None:
    """Replace what differs between two lists of slots; None if the translation does not have each of them as often."""
    changes: dict[str, str] = {}
    for before, after in zip(old, new, strict=True):
        if changes.setdefault(before, after) != after:
            return None
    if _SLOT in target:
        return None
    pattern, slots = _pattern(target)
    counts = Counter(slots)
    if any(counts[before] != old.count(before) for before, after in changes.items() if before != after):
        return None
    pieces = pattern.split(_SLOT)
    filled = [changes.get(slot, slot) for slot in slots]
    return "".join(piece + slot for piece, slot in zip(pieces, [*filled, ""], strict=True))
