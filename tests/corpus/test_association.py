"""Words that go together are learnt from pairs alone."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tongsa.corpus.association import learn
from tongsa.corpus.logistic import fit, fit_real
from tongsa.corpus.words import numbers, stems


def test_translations_are_learnt_from_pairs() -> None:
    words = {"red": "rot", "house": "haus", "old": "alt", "river": "fluss", "bread": "brot", "green": "grün"}
    draw = random.Random(1)
    pairs = []
    for _ in range(300):
        chosen = draw.sample(sorted(words), 3)
        pairs.append((["the", *chosen], ["der", *(words[word] for word in reversed(chosen))]))
    learnt = learn(pairs)
    assert {word: max(learnt.weights[word], key=learnt.weights[word].__getitem__) for word in words} == words
    left, right = learn(pairs).evidence(["the", "red", "house", "never"], ["der", "rot", "fluss"])
    assert left[1] > 1 > left[2] == 0
    assert left[3] == -1
    assert right[1] > 1 > right[2]


def test_nothing_is_learnt_from_nothing() -> None:
    assert learn([]).evidence(["a"], ["b"]) == ([-1.0], [-1.0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Übersetzungen!", ["überse"]), ("학생은 책을", ["학생", "책을"]), ("日本", ["日", "本"]), ("", [])],
)
def test_stems(text: str, expected: list[str]) -> None:
    assert stems(text) == expected


def test_numbers_are_compared_by_their_digits() -> None:
    assert numbers("1,234.5 and 7") == numbers("7 und 1.234,5") == ["12345", "7"]


def test_faulty_examples_do_not_hold_the_odds_down() -> None:
    draw = np.random.default_rng(1)
    real, made = draw.normal(0, 1, (4000, 2)), draw.normal(4, 1, (4000, 2))
    real[:40] += 4  # one in a hundred is faulty
    far = np.array([[4.0, 4.0]])
    naive = fit(made, real).log_odds(far)[0]
    assert fit_real(real, made, real_is_yes=False).log_odds(far)[0] > naive + 2
