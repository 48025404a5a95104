"""A difference that a new draw of the test set would take away is none."""

from __future__ import annotations

import random

import pytest

from tongsa.base.errors import UsageError
from tongsa.evaluation.scores import score
from tongsa.evaluation.significance import judge

REFERENCES = [f"the {a} {b} of the {c} house" for a in ("old", "new", "red") for b in ("door", "roof", "wall")
              for c in ("tall", "long", "wide", "small")]  # fmt: skip


def damaged(share: float, seed: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(word if draw.random() >= share else "x" for word in line.split()) for line in REFERENCES]


SYSTEMS = {"good": damaged(0.1, 1), "alike": damaged(0.1, 2), "bad": damaged(0.5, 3)}


def test_scores_are_those_of_evaluate() -> None:
    found = judge(SYSTEMS, REFERENCES, "en", best="good", samples=50)
    for name, lines in SYSTEMS.items():
        for metric, value in score(lines, REFERENCES, "en", ["bleu", "chrf"]).items():
            assert found[name][metric].score == value["score"]


def test_a_real_difference_is_significant_and_a_small_one_is_not() -> None:
    found = judge(SYSTEMS, REFERENCES, "en", best="good")
    for metric in ("bleu", "chrf"):
        worse, alike = found["bad"][metric].p, found["alike"][metric].p
        assert found["good"][metric].p is None
        assert worse is not None
        assert worse < 0.01
        assert alike is not None
        assert alike > 0.05
        assert found["good"][metric].interval > 0


def test_the_same_draws_are_made_every_time() -> None:
    assert judge(SYSTEMS, REFERENCES, "en", best="good", samples=100) == judge(
        SYSTEMS, REFERENCES, "en", best="good", samples=100
    )


def test_one_system_alone_has_a_score_and_no_p() -> None:
    found = judge({"good": SYSTEMS["good"]}, REFERENCES, "en", best="good", samples=50)
    assert found["good"]["bleu"].p is None


def test_lines_that_do_not_pair_up_are_refused() -> None:
    with pytest.raises(UsageError):
        judge({"good": SYSTEMS["good"][:-1]}, REFERENCES, "en", best="good")
    with pytest.raises(UsageError):
        judge(SYSTEMS, REFERENCES, "en", best="unknown")
    with pytest.raises(UsageError):
        judge({"good": []}, [], "en", best="good")
