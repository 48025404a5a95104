"""Words that go together are learnt from pairs alone."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tongsa.corpus.association import Association, learn
from tongsa.corpus.logistic import choose_threshold, fit, fit_real
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
    left, right, paired, _ = learnt.evidence(["the", "red", "house", "never"], ["der", "rot", "fluss"])
    assert left[1] > 1 > left[2] == 0
    assert left[3] == -1
    assert right[1] > 1 > right[2]
    assert paired[1:] == [True, False, False]


def test_every_word_has_one_partner_at_most() -> None:
    learnt = Association({"a": {"x": 3.0}, "b": {"x": 2.0, "y": 1.5}}, frozenset("xy"))
    assert learnt.evidence(["a", "a", "b"], ["x", "y"]).paired_left == [True, False, True]
    assert learnt.evidence(["a", "a"], ["x", "y"]).paired_right == [True, False]


def test_nothing_is_learnt_from_nothing() -> None:
    assert learn([]).evidence(["a"], ["b"]) == ([-1.0], [-1.0], [False], [False])


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
    naive = fit(made, real, 1e-4).log_odds(far)[0]
    assert fit_real(real, made, real_is_yes=False, ridge=1e-4).log_odds(far)[0] > naive + 2


def test_the_line_is_drawn_where_sound_ones_begin_to_be_found() -> None:
    draw = np.random.default_rng(1)
    made = draw.normal(8, 1, 4000)
    few = np.concatenate([draw.normal(-4, 1, 4000), draw.normal(8, 1, 40)])
    odd = np.concatenate([few, draw.normal(4.0, 0.2, 40)])
    steps = (3.0, 4.0, 5.0, 6.0)
    assert choose_threshold(few, made, steps) == 3.0
    assert choose_threshold(odd, made, steps) == 5.0
