"""Scores over seeds: intervals cover test set and seeds, and tests of many pairs are corrected."""

from __future__ import annotations

import random

import pytest

from tongsa.base.errors import UsageError
from tongsa.evaluation.metrics import text_metric
from tongsa.evaluation.seeds import compare_runs, holm
from tongsa.evaluation.significance import paired_bootstrap

WORDS = [f"w{i}" for i in range(30)]


def texts(count: int, seed: int) -> list[str]:
    chosen = random.Random(seed)
    return [" ".join(chosen.choice(WORDS) for _ in range(12)) for _ in range(count)]


def noisy(lines: list[str], share: float, seed: int) -> list[str]:
    """The lines with this share of words replaced."""
    chosen = random.Random(seed)
    return [" ".join(chosen.choice(WORDS) if chosen.random() < share else w for w in line.split()) for line in lines]


REFERENCES = texts(60, 0)


def test_holm_multiplies_the_smallest_by_the_number_of_tests_and_never_goes_down() -> None:
    # Worked by hand: 0.01 x 4; 0.02 x 3; 0.03 x 2 is no smaller than that; 0.5 x 1.
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert holm([0.4, 0.9]) == pytest.approx([0.8, 0.9])
    assert holm([0.7, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_one_run_each_gives_the_scores_of_the_metric_and_about_twice_the_p_of_sacrebleu() -> None:
    systems = {"good": noisy(REFERENCES, 0.1, 1), "bad": noisy(REFERENCES, 0.14, 2)}
    theirs = paired_bootstrap(systems, REFERENCES, "en", baseline="good", metrics=("bleu",), samples=1000)
    found = compare_runs({name: [lines] for name, lines in systems.items()}, REFERENCES, "en", metrics=("bleu",))[
        "bleu"
    ]
    assert found.ranking == ["good", "bad"]
    for name in systems:
        assert found.scores[name].score == pytest.approx(theirs[name]["bleu"].score, abs=1e-3)
        assert found.scores[name].interval == pytest.approx(theirs[name]["bleu"].interval, rel=0.15)
    expected = theirs["bad"]["bleu"].p
    assert expected is not None
    assert found.scores["bad"].p == pytest.approx(2 * expected, abs=0.04)  # theirs has one side, ours has two
    assert found.scores["good"].p is None
    assert found.scores["good"].deviation is None


def test_the_score_is_the_mean_of_the_runs_and_seeds_widen_the_interval() -> None:
    runs = [noisy(REFERENCES, share, 3) for share in (0.05, 0.2, 0.35)]
    found = compare_runs({"one": runs[1:2], "all": runs}, REFERENCES, "en", metrics=("bleu",))["bleu"].scores
    alone = [text_metric("bleu").corpus(lines, REFERENCES, language="en").score for lines in runs]
    assert found["all"].runs == pytest.approx(alone)
    assert found["all"].score == pytest.approx(sum(alone) / 3, abs=1e-3)
    assert found["all"].interval > 1.5 * found["one"].interval
    assert found["all"].deviation == pytest.approx(((alone[0] - alone[2]) / 2), rel=0.2)


def test_a_difference_that_only_one_seed_shows_is_not_significant() -> None:
    even = [noisy(REFERENCES, 0.2, seed) for seed in (1, 2, 3)]
    lucky = [noisy(REFERENCES, 0.02, 4), noisy(REFERENCES, 0.2, 5), noisy(REFERENCES, 0.2, 6)]
    one_seed = compare_runs({"even": even[:1], "lucky": lucky[:1]}, REFERENCES, "en", metrics=("bleu",))["bleu"]
    three = compare_runs({"even": even, "lucky": lucky}, REFERENCES, "en", metrics=("bleu",))["bleu"]
    assert one_seed.scores["even"].p is not None
    assert three.scores["even"].p is not None
    assert one_seed.scores["even"].p < 0.01
    assert three.scores["even"].p > 0.05


def test_every_pair_is_tested_better_system_first_and_draws_allow_significance_after_the_correction() -> None:
    systems = {f"s{i}": [noisy(REFERENCES, 0.05 * i, i)] for i in range(6)}
    found = compare_runs(systems, REFERENCES, "en", metrics=("bleu",), draws=400)["bleu"]
    assert found.ranking == ["s0", "s1", "s2", "s3", "s4", "s5"]
    assert len(found.pairs) == 15
    assert all(found.ranking.index(one) < found.ranking.index(other) for one, other in found.pairs)
    assert found.pairs["s0", "s5"] == pytest.approx(15 / 401)
    assert found.scores["s5"].p == round(found.pairs["s0", "s5"], 4)


def test_all_metrics_test_against_the_best_by_the_first_one() -> None:
    """By TER the order is another one: long outputs have few n-grams wrong, but much to delete."""
    cut = [" ".join(line.split()[:6]) for line in REFERENCES]
    longer = [f"{line} {line}" for line in REFERENCES]
    found = compare_runs({"cut": [cut], "longer": [longer]}, REFERENCES, "en", metrics=("bleu", "ter"), draws=50)
    assert found["bleu"].ranking[0] == "longer"
    assert found["ter"].ranking[0] == "cut"
    for by_metric in found.values():
        assert by_metric.scores["longer"].p is None
        assert by_metric.scores["cut"].p == round(next(iter(by_metric.pairs.values())), 4)


def test_lower_is_better_where_the_metric_says_so() -> None:
    systems = {"bad": [noisy(REFERENCES, 0.3, 1)], "good": [noisy(REFERENCES, 0.1, 2)]}
    found = compare_runs(systems, REFERENCES, "en", metrics=("ter",), draws=50)["ter"]
    assert found.ranking == ["good", "bad"]


def test_runs_that_do_not_match_the_references_are_refused() -> None:
    refused: list[dict[str, list[list[str]]]] = [{}, {"a": []}, {"a": [REFERENCES[:-1]]}]
    for systems in refused:
        with pytest.raises(UsageError, match="every reference"):
            compare_runs(systems, REFERENCES, "en")
