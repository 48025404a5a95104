"""The translator that other tests borrow has learnt what they rely on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tongsa.demo.grammar import corpus
from tongsa.evaluation.metrics import text_metric
from tongsa.translation.translator import Translator


@pytest.mark.slow
def test_a_small_model_learns_the_grammar_in_half_a_minute(trained_translator: Path) -> None:
    _, _, test = corpus(0, 0, 100, seed=1)
    translator = Translator.load(trained_translator, threads=1)
    found = [translation.text for translation in translator.translate([korean for korean, _ in test])]
    assert text_metric("bleu").corpus(found, [english for _, english in test], language="en").score > 50
