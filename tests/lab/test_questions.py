"""Answers of the lab are computed from the values: other values, another conclusion; in English and Korean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tongsa.base.progress import Silent
from tongsa.lab.answering import answer_questions, measured
from tongsa.lab.question import Lab, Question, Values, difference, mean_of, words_in
from tongsa.lab.questions import QUESTIONS

ENGLISH, KOREAN = words_in("en"), words_in("ko")


def _swap(first: str, second: str) -> Callable[[Values], Values]:
    return lambda values: {**values, first: values[second], second: values[first]}


OTHERWISE: dict[str, Callable[[Values], Values]] = {
    "scale": _swap("scaled", "unscaled"),
    "word-order": _swap("with", "without"),
    "embedding": lambda values: {**values, "rows": [{**row, "output": 0.5} for row in values["rows"]]},
}
"""For each question, a change of its values that must change the conclusion."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lab")


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_other_values_give_another_conclusion(question: Question, folder: Path) -> None:
    values = measured(question, Lab(folder=folder, show=Silent(), seeds=2))
    otherwise = OTHERWISE[question.name](values)
    for words in (ENGLISH, KOREAN):
        now, then = (question.answer(each, words).conclusion for each in (values, otherwise))
        letters = [[letter for letter in text if not letter.isdigit()] for text in (now, then)]
        assert letters[0] != letters[1], "more than the digits is different"


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_an_answer_has_a_table_a_figure_and_both_languages(question: Question, folder: Path) -> None:
    values = measured(question, Lab(folder=folder, show=Silent(), seeds=2))
    for words in (ENGLISH, KOREAN):
        answer = question.answer(values, words)
        assert answer.figures
        assert answer.rows
        assert {len(row) for row in answer.rows} == {len(answer.head)}
        hangul = any("가" <= letter <= "힣" for letter in answer.conclusion.partition('"')[0])
        assert hangul == (words is KOREAN)


def test_values_are_measured_once(folder: Path) -> None:
    asked: list[Lab] = []
    question = Question(
        name="counted",
        section="1",
        english="How often?",
        korean="몇 번?",
        measure=lambda lab: asked.append(lab) or {"n": 1},  # type: ignore[func-returns-value]
        answer=lambda values, words: QUESTIONS["scale"].answer(values, words),
    )
    lab = Lab(folder=folder, show=Silent(), seeds=2)
    assert measured(question, lab) == measured(question, lab) == {"n": 1}
    assert len(asked) == 1
    measured(question, Lab(folder=folder, show=Silent(), seeds=3))
    assert len(asked) == 2


def test_the_page_has_every_question_and_its_command(folder: Path) -> None:
    lab = Lab(folder=folder, show=Silent(), seeds=2)
    answer_questions(list(QUESTIONS.values()), lab, "ko", folder / "lab.html")
    text = (folder / "lab.html").read_text(encoding="utf-8")
    for question in QUESTIONS.values():
        assert question.korean in text
        assert f"tongsa lab {question.name}" in text


def test_means_have_intervals_of_students_t() -> None:
    mean = mean_of([1.0, 2.0, 3.0])
    assert mean.mean == 2.0
    assert mean.half == pytest.approx(4.303 / 3**0.5, rel=1e-3)
    assert difference([2.0, 3.0], [1.0, 2.0]).half == 0.0
