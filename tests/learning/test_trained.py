"""A training, from files to a translator, learns the grammar; so did the one whose weights other tests borrow."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_translators import grammar_translator
from tongsa.demo.grammar import corpus
from tongsa.evaluation.metrics import text_metric
from tongsa.translation.translator import Translator


@pytest.mark.slow
def test_a_small_model_learns_much_of_the_grammar_in_a_few_updates(tmp_path: Path) -> None:
    assert bleu(grammar_translator(tmp_path, updates=250)) > 15


def test_the_translator_that_other_tests_borrow_knows_the_grammar(trained_translator: Path) -> None:
    assert bleu(trained_translator) > 60


def bleu(directory: Path) -> float:
    _, _, test = corpus(0, 0, 100, seed=1)
    translator = Translator.load(directory, threads=1)
    found = [translation.text for translation in translator.translate([korean for korean, _ in test])]
    return text_metric("bleu").corpus(found, [english for _, english in test], language="en").score
