"""Scores are sacrebleu's own, with signatures that let others repeat them."""

from __future__ import annotations

import math

import pytest
from sacrebleu.metrics import BLEU

from tongsa.base.errors import UsageError
from tongsa.evaluation.contracts import TextMetric
from tongsa.evaluation.metrics import METRICS, TRANSLATION_METRICS, mean_metric, named, score, text_metric

REFERENCES = ["The interpreter translates the letter.", "It rained all day long in the old town."]
HYPOTHESES = ["The interpreter translates a letter.", "It rained all day in the old town."]


def bleu(hypotheses: list[str], references: list[str], language: str) -> float:
    return text_metric("bleu").corpus(hypotheses, references, language=language).score


def test_perfect_translations_have_perfect_scores() -> None:
    scores = score(REFERENCES, REFERENCES, "en")
    assert {name: value.score for name, value in scores.items()} == {"bleu": 100.0, "chrf": 100.0, "ter": 0.0}
    assert list(scores) == list(TRANSLATION_METRICS)


def test_bleu_is_sacrebleus_cased_with_13a_tokens() -> None:
    expected = BLEU().corpus_score(HYPOTHESES, [REFERENCES]).score
    assert bleu(HYPOTHESES, REFERENCES, "en") == round(expected, 3)
    assert 30 < expected < 90
    assert bleu([text.lower() for text in HYPOTHESES], REFERENCES, "en") < expected
    signature = score(HYPOTHESES, REFERENCES, "en")["bleu"].signature
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
    assert f"tok:{tokenizer}|" in score(["他翻译信"], ["他翻译了信"], language, ["bleu"])["bleu"].signature


def test_a_nearly_right_sentence_without_spaces_scores_above_zero() -> None:
    assert bleu(["他今天在学校里翻译了信"], ["他今天在学校里翻译一封信"], "zh") > 30
    assert bleu(["彼は今日学校で手紙を訳した"], ["彼は今日学校で手紙を訳す"], "ja") > 30


def test_empty_translations_score_zero() -> None:
    scores = score(["", ""], REFERENCES, "en", ["bleu", "chrf"])
    assert [value.score for value in scores.values()] == [0.0, 0.0]


@pytest.mark.parametrize("names", [["blue"], ["bleu", "bleurt"], []])
def test_an_unknown_metric_lists_the_known_ones(names: list[str]) -> None:
    with pytest.raises(UsageError, match=r"metric.*\n +Known: bleu, chrf, ter"):
        score(HYPOTHESES, REFERENCES, "en", names)


def test_a_metric_of_tokens_or_answers_is_no_metric_of_texts() -> None:
    with pytest.raises(UsageError, match="unknown metric: perplexity"):
        score(HYPOTHESES, REFERENCES, "en", ["perplexity"])


@pytest.mark.parametrize("name", list(METRICS))
def test_every_metric_knows_which_of_two_scores_is_better(name: str) -> None:
    metric = METRICS[name]
    good, bad = (60.0, 20.0) if metric.higher_is_better else (20.0, 60.0)
    assert metric.name == name
    assert metric.better(good, bad)
    assert not metric.better(bad, good)
    assert not metric.better(good, good)
    assert not metric.better(math.nan, bad)
    assert metric.better(bad, None)
    assert metric.better(bad, math.nan)
    assert metric.ranking({"b": bad, "n": math.nan, "g": good}) == ["g", "b", "n"]


def test_bleu_comet_accuracy_and_f1_rise_ter_loss_and_error_fall() -> None:
    assert {name for name, metric in METRICS.items() if metric.higher_is_better} == {
        "bleu",
        "chrf",
        "tokenised_bleu",
        "lowercased_bleu",
        "comet",
        "accuracy",
        "f1",
        "complete_match",
    }


def test_a_metric_of_texts_is_no_metric_of_answers() -> None:
    with pytest.raises(UsageError, match="bleu is not a metric of losses"):
        mean_metric("bleu")


def test_losses_and_answers_are_means() -> None:
    assert mean_metric("log_loss").corpus(6.0, 3).score == 2.0
    assert mean_metric("perplexity").corpus(6.0, 3).score == math.exp(2.0)
    assert mean_metric("accuracy").corpus(3, 4).score == 75.0
    assert mean_metric("error").corpus(1, 4).score == 25.0


def test_a_sentence_has_a_score_of_its_own() -> None:
    for name in TRANSLATION_METRICS:
        metric = text_metric(name)
        perfect = metric.sentence("a b", "a b", language="en")
        assert round(perfect, 6) == (100.0 if metric.higher_is_better else 0.0)
        assert metric.better(perfect, metric.sentence("a c", "a b", language="en"))


def test_the_metrics_of_a_log_are_found_among_its_other_keys() -> None:
    assert [metric.name for metric in named(["seconds", "perplexity", "bleu", "update"])] == ["bleu", "perplexity"]


class SourceWords(TextMetric):
    """Percent of the source's words that are also in the hypothesis."""

    name, title, unit = "kept", "kept", "percent"
    needs_source = True

    def sentence(self, hypothesis: str, reference: str, *, language: str, source: str = "") -> float:
        return 100 * sum(word in hypothesis.split() for word in source.split()) / len(source.split())


def test_a_metric_that_needs_the_source_says_so() -> None:
    metric = SourceWords()
    assert metric.corpus(["a b", "c"], ["", ""], language="en", sources=["a x", "c"]).score == 75.0
    with pytest.raises(UsageError, match="kept needs the source"):
        metric.corpus(["a b"], ["a b"], language="en")


def test_tokenised_bleu_splits_compounds_as_the_papers_of_wmt14_did() -> None:
    """get_ende_bleu.sh: s{(\\S)-(\\S)}{$1 ##AT##-##AT## $2}g on tokens, then BLEU on what is between blanks."""
    found = score(["the rich-text format , so"], ["The rich-text format, so"], "de", ["tokenised_bleu"])
    lines = ["the rich ##AT##-##AT## text format , so", "The rich ##AT##-##AT## text format , so"]
    expected = BLEU(tokenize="none", force=True).corpus_score(lines[:1], [lines[1:]]).score
    assert found["tokenised_bleu"].score == pytest.approx(expected, abs=1e-3)
    assert "tok:13a+compounds" in found["tokenised_bleu"].signature


def test_lowercased_bleu_does_not_count_case() -> None:
    found = score(["ein Mann mit hut."], ["Ein mann mit Hut."], "de", ["bleu", "lowercased_bleu"])
    assert found["lowercased_bleu"].score == pytest.approx(100.0)
    assert found["bleu"].score < 50
    assert "case:lc" in found["lowercased_bleu"].signature
