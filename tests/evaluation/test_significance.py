"""A difference that a new draw of the test set would take away is none."""

from __future__ import annotations

import random

import pytest

from tongsa.base.errors import UsageError
from tongsa.evaluation.contracts import TextMetric
from tongsa.evaluation.metrics import METRICS, score
from tongsa.evaluation.significance import paired_bootstrap

REFERENCES = [f"the {a} {b} of the {c} house" for a in ("old", "new", "red") for b in ("door", "roof", "wall")
              for c in ("tall", "long", "wide", "small")]  # fmt: skip


def damaged(share: float, seed: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(word if draw.random() >= share else "x" for word in line.split()) for line in REFERENCES]


SYSTEMS = {"good": damaged(0.1, 1), "alike": damaged(0.1, 2), "bad": damaged(0.5, 3)}


def test_scores_are_those_of_evaluate() -> None:
    found = paired_bootstrap(SYSTEMS, REFERENCES, "en", baseline="good", samples=50)
    for name, lines in SYSTEMS.items():
        for metric, value in score(lines, REFERENCES, "en", ["bleu", "chrf"]).items():
            assert found[name][metric].score == value.score


def test_a_real_difference_is_significant_and_a_small_one_is_not() -> None:
    found = paired_bootstrap(SYSTEMS, REFERENCES, "en", baseline="good")
    for metric in ("bleu", "chrf"):
        worse, alike = found["bad"][metric].p, found["alike"][metric].p
        assert found["good"][metric].p is None
        assert worse is not None
        assert worse < 0.01
        assert alike is not None
        assert alike > 0.05
        assert found["good"][metric].interval > 0


def test_the_same_draws_are_made_every_time() -> None:
    assert paired_bootstrap(SYSTEMS, REFERENCES, "en", baseline="good", samples=100) == paired_bootstrap(
        SYSTEMS, REFERENCES, "en", baseline="good", samples=100
    )


def test_metrics_that_sacrebleu_calls_by_one_name_stand_side_by_side() -> None:
    found = paired_bootstrap(
        SYSTEMS, REFERENCES, "en", baseline="good", metrics=("lowercased_bleu", "bleu", "chrf"), samples=50
    )
    alone = paired_bootstrap(SYSTEMS, REFERENCES, "en", baseline="good", metrics=("bleu",), samples=50)
    for name, scores in found.items():
        assert list(scores) == ["lowercased_bleu", "bleu", "chrf"]
        assert scores["bleu"] == alone[name]["bleu"]
        assert "case:lc" in scores["lowercased_bleu"].signature


def test_one_system_alone_has_a_score_and_no_p() -> None:
    found = paired_bootstrap({"good": SYSTEMS["good"]}, REFERENCES, "en", baseline="good", samples=50)
    assert found["good"]["bleu"].p is None


def test_lines_that_do_not_pair_up_are_refused() -> None:
    with pytest.raises(UsageError):
        paired_bootstrap({"good": SYSTEMS["good"][:-1]}, REFERENCES, "en", baseline="good")
    with pytest.raises(UsageError):
        paired_bootstrap(SYSTEMS, REFERENCES, "en", baseline="unknown")
    with pytest.raises(UsageError):
        paired_bootstrap({"good": []}, [], "en", baseline="good")


class Words(TextMetric):
    """Wrong words in percent: a metric of another package, of which lower is better."""

    name, title, unit = "words", "words", "wrong words in percent"
    higher_is_better = False

    def sentence(self, hypothesis: str, reference: str, *, language: str, source: str = "") -> float:
        pairs = list(zip(hypothesis.split(), reference.split(), strict=True))
        return 100 * sum(a != b for a, b in pairs) / len(pairs)


def test_a_metric_of_another_package_is_tested_as_those_of_sacrebleu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS._loaded, "words", Words())  # as an entry point would
    monkeypatch.setitem(METRICS._entries, "words", None)
    found = paired_bootstrap(SYSTEMS, REFERENCES, "en", baseline="good", metrics=["words", "bleu"])
    assert found["good"]["words"].score == score(SYSTEMS["good"], REFERENCES, "en", ["words"])["words"].score
    worse, alike = found["bad"]["words"].p, found["alike"]["words"].p
    assert worse is not None
    assert worse < 0.01
    assert alike is not None
    assert alike > 0.05
    assert found["good"]["words"].interval > 0
    assert found["good"]["words"].signature.startswith("words|")
    assert "seed:12345" in found["good"]["words"].signature
