"""Scores by length, and the sentences that are shown."""

from __future__ import annotations

from tongsa.lab.compare.comparison import by_length, examples
from tongsa.lab.compare.results import training_speed

REFERENCES = [" ".join(f"w{(i * 7 + j) % 23}" for j in range(4 + i // 4)) for i in range(60)]
LENGTHS = [len(line.split()) for line in REFERENCES]


def test_a_model_that_loses_long_sentences_falls_with_the_length() -> None:
    test = [(line, line) for line in REFERENCES]
    forgetful = [" ".join(line.split()[:7]) for line in REFERENCES]
    found = by_length("bleu", {"whole": [REFERENCES], "forgetful": [forgetful]}, test, LENGTHS, "en")
    assert sum(bucket.count for bucket in found) == 60
    assert [bucket.low for bucket in found][1:] == [bucket.high + 1 for bucket in found][:-1]
    assert all(round(bucket.scores["whole"]) == 100 for bucket in found)
    lost = [bucket.scores["forgetful"] for bucket in found]
    assert round(lost[0]) == 100
    assert lost[-1] < 50
    assert lost == sorted(lost, reverse=True)
    assert all(bucket.intervals["whole"] == 0 for bucket in found)
    assert found[-1].intervals["forgetful"] > 0
    assert all(bucket.low <= bucket.mean <= bucket.high for bucket in found)


def test_examples_go_from_short_to_long_and_no_two_are_the_same() -> None:
    test = [(line, line) for line in REFERENCES]
    found = examples({"a": REFERENCES}, test, LENGTHS, "en")
    assert [example.length for example in found] == sorted(example.length for example in found)
    assert len({example.source for example in found}) == len(found) == 4
    assert all(round(example.scores["a"]) == 100 for example in found)
    assert len(examples({"a": REFERENCES[:2]}, test[:2], LENGTHS[:2], "en")) <= 2


def test_the_speed_of_training_leaves_validations_out() -> None:
    events = [
        {"event": "update", "seconds": 1.0, "tokens": 100},
        {"event": "update", "seconds": 2.0, "tokens": 100},
        {"event": "validation", "seconds": 50.0},
        {"event": "update", "seconds": 51.0, "tokens": 100},
        {"event": "update", "seconds": 52.0, "tokens": 300},
    ]
    assert training_speed(events) == 200.0
    assert training_speed(events[:1]) == 0.0
