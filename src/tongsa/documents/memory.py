"""Translation memory: exact matches of earlier translations are reused; similar entries are reported."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

from tongsa.formats.pairs import Reading, open_corpus
from tongsa.formats.segments import Languages, Near
from tongsa.text.lines import tidy

LIKE = 0.75
"""Least similarity (the ratio of difflib) at which an entry is shown."""

CANDIDATES = 8
"""Number of entries compared letter by letter: those that share most words with the segment."""

LONGEST = 2000
"""Characters of the longest text that is compared letter by letter: the time grows with the square of the length."""

COMMON = 2000
"""Words in more entries than this are ignored in the search."""


@dataclass
class Memory:
    """Sources and targets, indexed by the exact source and by its words."""

    entries: list[tuple[str, str]] = field(default_factory=list)
    _exact: dict[str, str] = field(default_factory=dict)
    _words: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def read(cls, paths: Iterable[Path], languages: Languages) -> Memory:
        memory = cls()
        for path in paths:
            for pair in open_corpus([path], Reading(source=languages.source, target=languages.target)):
                memory.add(pair.source, pair.target)
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

    def near(self, source: str) -> Near | None:
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
            if min(len(entry), len(key)) < LIKE / 2 * max(len(entry), len(key)):
                continue
            likeness = SequenceMatcher(None, key, entry, autojunk=False).ratio()
            if likeness >= LIKE and (best is None or likeness > best.likeness):
                best = Near(source=entry, target=target, likeness=likeness)
        return best
