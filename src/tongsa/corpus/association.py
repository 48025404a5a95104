"""Which words of two languages translate each other, learnt from a sample of the corpus with IBM model 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tongsa.data.lexicon import Lexicon, cells_of, learn_lexicon

CELLS = 5_000_000
"""Maximum number of word pairs to learn from: bounds time and memory."""
STRONGEST = 10
"""Number of translations kept for each word."""
CEILING = 6.0
"""Upper bound of one word's evidence, so that no single word decides."""


_NO_PARTNERS: dict[str, float] = {}


class Evidence(NamedTuple):
    """Evidence from the words of two texts that they translate each other."""

    left: list[float]
    """The weight of each source word's best partner; 0 if it has none, -1 if the word is unknown."""
    right: list[float]
    paired_left: list[bool]
    """Whether each source word has a partner of its own, when the strongest pairs are matched first."""
    paired_right: list[bool]


@dataclass(frozen=True)
class Association:
    """log(t(target | source) / p(target)) for words that translate each other."""

    weights: dict[str, dict[str, float]]
    targets: frozenset[str]
    """Known words of the target language."""

    def evidence(self, source: Sequence[str], target: Sequence[str]) -> Evidence:
        """Best partners of the words on both sides, and which words have one if each word can be used only once."""
        places: dict[str, list[int]] = {}
        for place, word in enumerate(target):
            places.setdefault(word, []).append(place)
        edges: list[tuple[float, int, int]] = []
        for place, word in enumerate(source):
            row = self.weights.get(word, _NO_PARTNERS)
            if word in places:  # names, numbers, words that both languages share
                edges += [(CEILING, -place, -other) for other in places[word]]
            if len(row) < len(places):
                edges += [(row[p], -place, -other) for p in row if p in places and p != word for other in places[p]]
            elif row:
                edges += [(row[p], -place, -o) for p, all_ in places.items() if p in row and p != word for o in all_]
        edges.sort(reverse=True)  # strongest first; ties in the order of the words
        left = [0.0 if word in self.weights else -1.0 for word in source]
        right = [0.0 if word in self.targets else -1.0 for word in target]
        paired = ([False] * len(source), [False] * len(target))
        for weight, minus_place, minus_other in edges:
            place, other = -minus_place, -minus_other
            left[place], right[other] = max(left[place], weight), max(right[other], weight)
            if not paired[0][place] and not paired[1][other]:
                paired[0][place] = paired[1][other] = True
        return Evidence(left, right, *paired)


def learn(pairs: Sequence[tuple[list[str], list[str]]]) -> Association:
    """Learn from pairs of texts; words that occur only once are left out."""
    sources, targets = (_vocabulary([pair[side] for pair in pairs]) for side in (0, 1))
    ids, width = _ids(pairs, sources, targets), len(targets)
    cells = cells_of(ids, width)
    if not len(cells.keys):
        return Association({}, frozenset(targets))
    lexicon = learn_lexicon(cells, width)
    used = pairs[: len(ids)]
    frequency = np.bincount([targets[word] for _, pair in used for word in pair if word in targets], minlength=width)
    usual = (frequency + 1) / (frequency.sum() + width)
    weight = np.log(np.maximum(lexicon.chances, 1e-9) / usual[lexicon.targets])
    return Association(_table(lexicon, weight, list(sources), list(targets)), frozenset(targets))


def _vocabulary(texts: Sequence[Sequence[str]]) -> dict[str, int]:
    counts = Counter(word for text in texts for word in set(text))
    return {word: number for number, word in enumerate(word for word, count in counts.items() if count > 1)}


def _ids(
    pairs: Sequence[tuple[list[str], list[str]]], sources: dict[str, int], targets: dict[str, int]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The words of the first pairs as numbers, each once in a sentence; as many pairs as have CELLS combinations."""
    found: list[tuple[np.ndarray, np.ndarray]] = []
    cells = 0
    for source, target in pairs:
        s = np.fromiter((sources[word] for word in set(source) if word in sources), np.int32)
        t = np.fromiter((targets[word] for word in set(target) if word in targets), np.int32)
        found.append((s, t))
        cells += len(s) * len(t)
        if cells > CELLS:
            break
    return found


def _table(lexicon: Lexicon, weight: np.ndarray, sources: list[str], targets: list[str]) -> dict[str, dict[str, float]]:
    """The strongest translations of each word."""
    table: dict[str, dict[str, float]] = {word: {} for word in sources}
    strong = np.flatnonzero((lexicon.chances > 0.02) & (weight > 1.0))
    for place in strong[np.argsort(-weight[strong], kind="stable")].tolist():
        row = table[sources[int(lexicon.sources[place])]]
        if len(row) < STRONGEST:
            row[targets[int(lexicon.targets[place])]] = min(float(weight[place]), CEILING)
    return table
