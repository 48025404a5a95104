"""A trigram language model with modified Kneser-Ney smoothing (Chen and Goodman 1998), interpolated.

    p(w | u v) = max(0, c(u v w) - D(c)) / c(u v) + gamma(u v) p(w | v)

where the lower orders count the different contexts in which a word was seen, not its occurrences; D has a value for
counts of one, two, and three or more; and the lowest order is mixed with the uniform distribution. It serves as the
baseline: the best known model that uses only counts of three words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tongsa.base.errors import CorpusError

Ids = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Order:
    """The n-grams of one order, as sorted keys: context * words + word."""

    grams: Ids
    discounted: Numbers
    """(c - D(c)) / sum of the counts of the context, for each n-gram"""
    contexts: Ids
    gamma: Numbers
    """The probability mass that the discounts leave to the lower order, for each context"""

    def probability(self, context: Ids, gram: Ids, lower: Numbers) -> Numbers:
        """An unseen context leaves all probability to the lower order."""
        return _find(self.grams, self.discounted, gram, 0.0) + _find(self.contexts, self.gamma, context, 1.0) * lower


class Trigram:
    """A trigram model counted from a stream of words 0 ... words - 1."""

    def __init__(self, stream: Ids, words: int) -> None:
        if len(stream) < 3:
            raise CorpusError("a trigram model needs at least three words")
        if words**3 >= 2**63:
            raise CorpusError(f"a vocabulary of {words:,} words is too large to count trigrams of")
        self.words = words
        trigrams, counts = np.unique(_keys(stream, 3, words), return_counts=True)
        self.three = _order(trigrams, counts, words)
        # Two words and one word: the number of different words before them.
        bigrams, before = np.unique(trigrams % words**2, return_counts=True)
        self.two = _order(bigrams, before, words)
        singles, before = np.unique(bigrams % words, return_counts=True)
        self.one = _order(singles, before, words)

    def probabilities(self, stream: Ids) -> Numbers:
        """p of every word of a stream except the first; the second word has only one word of context."""
        words = self.words
        bigrams = _keys(stream, 2, words)
        uniform = np.full(len(bigrams), 1.0 / words)
        single = self.one.probability(np.zeros_like(bigrams), stream[1:], uniform)
        double = self.two.probability(stream[:-1], bigrams, single)
        triple = self.three.probability(bigrams[:-1], _keys(stream, 3, words), double[1:])
        return np.concatenate([double[:1], triple])

    def perplexity(self, stream: Ids) -> float:
        return float(np.exp(-np.log(self.probabilities(stream)).mean()))


def _keys(stream: Ids, length: int, words: int) -> Ids:
    """Every n-gram of the stream as one number."""
    last = len(stream) - length + 1
    keys = np.zeros(last, dtype=np.int64)
    for place in range(length):
        keys = keys * words + stream[place : place + last]
    return keys


def _order(grams: Ids, counts: Ids, words: int) -> Order:
    discount = _discounts(counts)[np.minimum(counts, 3)]
    contexts, place = np.unique(grams // words, return_inverse=True)
    totals = np.bincount(place, weights=counts)
    return Order(
        grams=grams,
        discounted=(counts - discount) / totals[place],
        contexts=contexts,
        gamma=np.bincount(place, weights=discount) / totals,
    )


def _discounts(counts: Ids) -> Numbers:
    """D for counts of 0 (none), 1, 2, and 3 or more, from the number of n-grams seen once, twice, ... four times.

    Y = n1 / (n1 + 2 n2);  D1 = 1 - 2Y n2/n1;  D2 = 2 - 3Y n3/n2;  D3+ = 3 - 4Y n4/n3. If a text is too small to have
    all of these, one discount of Y (or a half) is used for all counts.
    """
    n1, n2, n3, n4 = (int((counts == times).sum()) for times in (1, 2, 3, 4))
    y = n1 / (n1 + 2 * n2) if n1 else 0.5
    if not (n1 and n2 and n3):
        return np.array([0.0, y, y, y])
    found = [1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3]
    # A discount must be between 0 and the count.
    return np.array([0.0, *(min(max(d, 0.0), c) for c, d in enumerate(found, 1))])


def _find(keys: Ids, values: Numbers, wanted: Ids, otherwise: float) -> Numbers:
    """The value of each wanted key; `otherwise` if the key is missing."""
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], otherwise)
