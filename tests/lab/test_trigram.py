from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tongsa.base.errors import CorpusError
from tongsa.lab.trigram import Trigram, _discounts

WORDS = 5
streams = st.lists(st.integers(0, WORDS - 1), min_size=3, max_size=60).map(lambda ids: np.array(ids, dtype=np.int64))


def by_hand(stream: NDArray[np.int64], context: tuple[int, ...], word: int) -> float:
    """The definition, with dictionaries: counts for three words, numbers of different contexts below."""
    ids = stream.tolist()
    three = Counter(zip(ids, ids[1:], ids[2:], strict=False))
    two = Counter(gram[1:] for gram in three)
    one = Counter(gram[1:] for gram in two)
    lower = 1 / WORDS
    for counts, length in ((one, 0), (two, 1), (three, 2)):
        if length > len(context):
            break
        discounts = _discounts(np.array(list(counts.values())))
        by_context: dict[tuple[int, ...], dict[int, int]] = defaultdict(dict)
        for gram, count in counts.items():
            by_context[gram[:-1]][gram[-1]] = count
        seen = by_context.get(context[len(context) - length :])
        if seen is None:
            continue
        total = sum(seen.values())
        left = sum(discounts[min(count, 3)] for count in seen.values()) / total
        count = seen.get(word, 0)
        lower = (count - discounts[min(count, 3)]) / total + left * lower
    return float(lower)


@given(streams, st.lists(st.integers(0, WORDS - 1), min_size=2, max_size=8))
def test_probabilities_are_those_of_the_definition(stream: NDArray[np.int64], text: list[int]) -> None:
    found = Trigram(stream, WORDS).probabilities(np.array(text))
    expected = [by_hand(stream, tuple(text[max(0, i - 2) : i]), text[i]) for i in range(1, len(text))]
    assert np.allclose(found, expected, atol=1e-12)


@given(streams, st.integers(0, WORDS - 1), st.integers(0, WORDS - 1))
def test_the_words_after_any_two_share_one_whole(stream: NDArray[np.int64], first: int, second: int) -> None:
    model = Trigram(stream, WORDS)
    after = [float(model.probabilities(np.array([first, second, word]))[1]) for word in range(WORDS)]
    assert abs(sum(after) - 1) < 1e-9
    assert min(after) >= 0


def test_discounts_are_those_of_chen_and_goodman() -> None:
    counts = np.repeat([1, 2, 3, 4, 9], [40, 15, 8, 5, 7])
    y = 40 / (40 + 2 * 15)
    expected = [0, 1 - 2 * y * 15 / 40, 2 - 3 * y * 8 / 15, 3 - 4 * y * 5 / 8]
    assert np.allclose(_discounts(counts), expected)


def test_every_word_but_the_first_counts_in_the_perplexity() -> None:
    stream = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 3])
    model = Trigram(stream, WORDS)
    p = model.probabilities(stream)
    assert len(p) == len(stream) - 1
    assert abs(model.perplexity(stream) - float(np.prod(p)) ** (-1 / len(p))) < 1e-9


def test_what_was_counted_often_is_likely() -> None:
    model = Trigram(np.array([0, 1, 2] * 50 + [0, 1, 3]), WORDS)
    assert float(model.probabilities(np.array([0, 1, 2]))[1]) > 0.9


def test_too_little_text_and_too_many_words_are_refused() -> None:
    with pytest.raises(CorpusError, match="three words"):
        Trigram(np.array([0, 1]), WORDS)
    with pytest.raises(CorpusError, match="too large"):
        Trigram(np.array([0, 1, 2]), 3_000_000)
