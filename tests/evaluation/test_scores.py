"""Scores are sacrebleu's own, with signatures that let others repeat them."""

from __future__ import annotations

import pytest
from sacrebleu.metrics import BLEU

from tongsa.base.errors import UsageError
from tongsa.evaluation.scores import METRICS, bleu, score

REFERENCES = ["The interpreter translates the letter.", "It rained all day long in the old town."]
HYPOTHESES = ["The interpreter translates a letter.", "It rained all day in the old town."]


def test_perfect_translations_have_perfect_scores() -> None:
    scores = score(REFERENCES, REFERENCES, "en")
    assert {name: value["score"] for name, value in scores.items()} == {"bleu": 100.0, "chrf": 100.0, "ter": 0.0}
    assert list(scores) == list(METRICS)


def test_bleu_is_sacrebleus_cased_with_13a_tokens() -> None:
    expected = BLEU().corpus_score(HYPOTHESES, [REFERENCES]).score
    assert bleu(HYPOTHESES, REFERENCES, "en") == round(expected, 3)
    assert 30 < expected < 90
    assert bleu([text.lower() for text in HYPOTHESES], REFERENCES, "en") < expected
    signature = score(HYPOTHESES, REFERENCES, "en")["bleu"]["signature"]
    assert "case:mixed" in signature
    assert "tok:13a" in signature
    assert "version:" in signature


@pytest.mark.parametrize(
    ("language", "tokenizer"),
    [
        ("zh", "zh"),
        ("zh-TW", "zh"),
        ("zh_Hans", "zh"),
        ("ZH", "zh"),
        ("ja", "char"),
        ("th", "char"),
        ("ko", "13a"),
        ("de", "13a"),
    ],
)
def test_languages_without_spaces_are_cut_otherwise(language: str, tokenizer: str) -> None:
    assert f"tok:{tokenizer}|" in score(["他翻译信"], ["他翻译了信"], language, ["bleu"])["bleu"]["signature"]


def test_a_nearly_right_sentence_without_spaces_scores_above_zero() -> None:
    assert bleu(["他今天在学校里翻译了信"], ["他今天在学校里翻译一封信"], "zh") > 30
    assert bleu(["彼は今日学校で手紙を訳した"], ["彼は今日学校で手紙を訳す"], "ja") > 30


def test_empty_translations_score_zero() -> None:
    scores = score(["", ""], REFERENCES, "en", ["bleu", "chrf"])
    assert [value["score"] for value in scores.values()] == [0.0, 0.0]


@pytest.mark.parametrize("names", [["blue"], ["bleu", "comet"], []])
def test_an_unknown_metric_lists_the_known_ones(names: list[str]) -> None:
    with pytest.raises(UsageError, match=r"is no metric(\n.*)*bleu, chrf, ter"):
        score(HYPOTHESES, REFERENCES, "en", names)
