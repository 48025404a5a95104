"""Each kind of mark in each format, with a trained translator: kept once, and the sentence translated as without it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tongsa.demo.grammar import corpus
from tongsa.translation.translator import Translator

ROOT = Path(__file__).resolve().parents[2]
LEAST = 0.9
"""Share of the cases in which the translation without its marks must equal that of the sentence without marks."""


def _benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_of_marks", ROOT / "benchmarks" / "marks.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


MARKS = _benchmark()
SENTENCES = [korean for korean, _ in corpus(0, 0, 60, seed=1)[2] if 4 <= len(korean.split()) <= 9][:3]
CASES = MARKS.cases(SENTENCES)
GROUPS = sorted({(case.kind, case.format) for case in CASES})


@pytest.fixture(scope="module")
def verdicts(trained_translator: Path) -> list:  # type: ignore[type-arg]
    return MARKS.judged(Translator.load(trained_translator, threads=1), CASES)  # type: ignore[no-any-return]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), GROUPS)
def test_a_mark_is_kept_exactly_once(kind: str, name: str, verdicts: list) -> None:  # type: ignore[type-arg]
    for verdict in verdicts:
        if (verdict.case.kind, verdict.case.format) == (kind, name):
            assert verdict.once, (verdict.case.marked, verdict.outcome)
            assert verdict.outcome.state == "translated", verdict.case.marked
            assert verdict.same or verdict.reviewed, (verdict.case.marked, verdict.outcome.text, verdict.wanted)


@pytest.mark.slow
def test_sentences_with_marks_are_translated_as_those_without(verdicts: list) -> None:  # type: ignore[type-arg]
    assert len(verdicts) >= 300
    assert sum(verdict.same for verdict in verdicts) >= LEAST * len(verdicts)
