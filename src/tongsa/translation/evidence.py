"""Which words of a translation are written for a source term, by what the model makes of each source word alone.

Attention tells where a model looks, which is not always what it translates: an article or a preposition often looks at
the noun that comes next. A model that is given a single word of the source finds words that do not translate it
improbable. The evidence for a word of the translation is its log-probability given the source term, less its
log-probability given that other word of the source which explains it best: positive if the term does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tongsa.engines.base import Engine
from tongsa.text.subwords import Subwords

LIKELY = 3
"""Words of a translation, besides those that are named, that are compared: the most probable ones given the term."""
MOST = 40
"""Most words of a source and of a translation that are looked at."""

_WORDS = re.compile(r"\w+(?:[-'’·]\w+)*")

Evidence = dict[str, float]
"""The evidence of words of a translation; words that are not in it are improbable given the source term."""


class Model(Protocol):
    engine: Engine
    subwords: Subwords


@dataclass(frozen=True, kw_only=True)
class Question:
    """Which words of a translation are written for source[start:end]."""

    source: str
    start: int
    end: int
    words: Sequence[str]
    """Words of the translation."""
    named: Sequence[str]
    """Those of them that are compared in any case."""

    @property
    def term(self) -> str:
        """The words that the term is part of: a Korean noun has a particle."""
        own = [match for match in _WORDS.finditer(self.source) if match.end() > self.start and match.start() < self.end]
        return self.source[own[0].start() : own[-1].end()] if own else self.source[self.start : self.end]

    @property
    def others(self) -> list[str]:
        """The other words of the source, those near the term first."""
        middle = (self.start + self.end) / 2
        found = [
            match for match in _WORDS.finditer(self.source) if match.end() <= self.start or match.start() >= self.end
        ]
        return list(dict.fromkeys(match[0] for match in sorted(found, key=lambda match: abs(match.start() - middle))))[
            :MOST
        ]


def evidence(model: Model, questions: Sequence[Question]) -> list[Evidence]:
    """Answer all questions in two passes: all words given the term, then the likely ones given the other words."""
    words = [list(dict.fromkeys((*each.named, *each.words)))[:MOST] for each in questions]
    pairs = [(each.term, word) for each, row in zip(questions, words, strict=True) for word in row]
    scores = iter(_log_probabilities(model, pairs))
    own = [{word: next(scores) for word in row} for row in words]
    likely = [
        dict.fromkeys((*each.named, *sorted(row, key=lambda word: -row[word])[:LIKELY]))
        for each, row in zip(questions, own, strict=True)
    ]
    pairs = [
        (other, word) for each, row in zip(questions, likely, strict=True) for word in row for other in each.others
    ]
    scores = iter(_log_probabilities(model, pairs))
    found: list[Evidence] = []
    for each, row, mine in zip(questions, likely, own, strict=True):
        others = each.others
        found.append({word: mine[word] - max([next(scores) for _ in others], default=mine[word]) for word in row})
    return found


def _log_probabilities(model: Model, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return the log-probability of each target word given its source word, whatever follows."""
    sources = {word: model.subwords.source.encode(word) for word, _ in pairs}
    targets = {word: model.subwords.target.encode(word) for _, word in pairs}
    once = [pair for pair in dict.fromkeys(pairs) if sources[pair[0]] and targets[pair[1]]]
    found = model.engine.score([sources[a] for a, _ in once], [targets[b] for _, b in once]) if once else []
    scores = {pair: sum(logs[:-1]) for pair, logs in zip(once, found, strict=True)}
    return [scores.get(pair, 0.0) for pair in pairs]
