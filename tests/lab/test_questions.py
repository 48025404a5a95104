"""Answers of the lab are computed from the values: other values, another conclusion; in English and Korean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tongsa.base.errors import UsageError
from tongsa.base.progress import Silent
from tongsa.lab.answering import answer_questions, as_page, measured
from tongsa.lab.question import Lab, Question, Values, difference, mean_of, words_in
from tongsa.lab.questions import (
    QUESTIONS,
    add_or_concatenate,
    bottleneck,
    embedding_scale,
    feed_forward,
    heads,
    layer_norm,
    positions,
    projections,
    residual,
    scale,
    smoothing,
    warm_up,
)

DOCS = Path(__file__).resolve().parents[2] / "docs"
ENGLISH, KOREAN = words_in("en"), words_in("ko")


def _trained(variants: Mapping[str, object], **looks: object) -> dict[str, list[Values]]:
    """Invented results: the baseline learns, all others learn less."""
    return {
        name: [
            {
                "perplexity": (4.0 if name == next(iter(variants)) else 9.0) + 0.1 * seed,
                "bleu": (30.0 if name == next(iter(variants)) else 12.0) + seed,
                "right": (90.0 if name == next(iter(variants)) else 20.0) + seed,
                "diverged": name == "deep-no-norm",
                "parameters": 300_000,
                "curve": [[1.0, 6.0], [2.0, 3.0 + 0.1 * seed]],
                **looks,
            }
            for seed in range(3)
        ]
        for name in variants
    }


def _head(kind: str, lost: float, previous: float) -> Values:
    looks = dict.fromkeys(("itself", "next", "aligned", "rarest", "first", "end"), 0.05)
    return {"kind": kind, "layer": 1, "head": 1, "distance": 1.5, "entropy": 2.0, "lost": lost, **looks} | {
        "previous": previous
    }


def _senses(before: float, after: float) -> Values:
    senses = ["spend", "wear", "bitter", "write"] * 4
    plane = [[0.0, 1.0], [1.0, 0.0], [0.5, 2.0], [2.0, 2.0]] * 4
    return {"word": "썼어요", "senses": senses, "right": [before, after], "before": plane, "after": plane}


STORED: dict[str, Values] = {
    "scale": {
        "widths": [4, 512],
        "keys": 32,
        "scaled": [[[4.3, 0.2], [4.4, 0.2]], [[4.3, 0.19], [4.4, 0.21]]],
        "unscaled": [[[2.0, 0.1], [2.1, 0.1]], [[0.1, 1e-9], [0.2, 2e-9]]],
        "trained": _trained(scale.TRAINED),
    },
    "embedding-scale": {
        "widths": [16, 1024],
        "scaled": [[0.6, 0.7], [0.6, 0.7]],
        "unscaled": [[0.1, 0.1], [0.001, 0.002]],
        "trained": _trained(embedding_scale.TRAINED),
    },
    "heads": {
        "trained": _trained(heads.TRAINED),
        "of_run": False,
        "heads": [_head("encoder", 0.2, 0.8), _head("decoder", 0.3, 0.1), _head("cross", 11.0, 0.0)],
    },
    "add-or-concatenate": {"trained": _trained(add_or_concatenate.TRAINED, overlap=0.12, chance=0.125)},
    "positions": {
        "distances": [0, 1, 2, 4, 8, 16, 32],
        "starts": [0, 100],
        "products": [[256.0, 250.0, 240.0, 220.0, 200.0, 180.0, 160.0]] * 2,
        "nearest": 0.5,
        "positions": 2000,
        "longest": 5,
        "trained": {
            name: [
                {**result, "seen": seen + 0.01 * seed, "unseen": unseen, "seen_right": 90.0, "unseen_right": 20.0}
                for seed, result in enumerate(results)
            ]
            for (name, results), seen, unseen in zip(
                _trained(positions.TRAINED).items(), (1.5, 1.5, 3.0), (2.0, 4.0, 4.0), strict=True
            )
        },
    },
    "projections": {"trained": _trained(projections.TRAINED, own=0.1, even=0.1)},
    "mask": {
        "trained": {
            "base": _trained({"base": {}})["base"],
            "unmasked": [{**result, "perplexity": 1.1, "bleu": 1.0} for result in _trained({"base": {}})["base"]],
        }
    },
    "feed-forward": {
        "facts": {"with": [99.0, 100.0], "without": [55.0, 57.0], "deeper": [99.0, 99.0]},
        "trained": _trained(feed_forward.TRAINED),
    },
    "residual": {"trained": _trained(residual.TRAINED)},
    "layer-norm": {"trained": _trained(layer_norm.TRAINED)},
    "warm-up": {"trained": _trained(warm_up.TRAINED)},
    "smoothing": {"trained": _trained(smoothing.TRAINED)},
    "bottleneck": {
        "lengths": [[1, 4], [5, 6], [7, 99]],
        "trained": {
            name: [{**result, "losses": losses} for result in results]
            for (name, results), losses in zip(
                _trained(bottleneck.TRAINED).items(),
                ([1.2, 1.6, 2.2], [1.8, 2.2, 3.0], [1.1, 1.4, 2.0], [1.0, 1.1, 1.2], [0.9, 1.0, 1.1]),
                strict=True,
            )
        },
    },
    "context": {"models": [_senses(0.25, 0.98), _senses(0.3, 0.99)]},
    "parallel": {  # how long it takes here is no matter of a test
        "tokens": 1024,
        "rows": [
            {"length": 8, "transformer": [0.01, 0.011], "gru": [0.01, 0.01], "lstm": [0.01, 0.01]},
            {"length": 256, "transformer": [0.01, 0.012], "gru": [0.07, 0.08], "lstm": [0.02, 0.02]},
        ],
    },
    "resolution": {"heads": [1, 4], "places": 4, "lost": [[0.75, 0.76], [0.1, 0.12]]},
}
"""Values of questions that train something, and take minutes to measure, or that depend on the machine."""


def _swap(first: str, second: str) -> Callable[[Values], Values]:
    return lambda values: {**values, first: values[second], second: values[first]}


def _swap_trained(first: str, second: str) -> Callable[[Values], Values]:
    return lambda values: {**values, "trained": _swap(first, second)(values["trained"])}


OTHERWISE: dict[str, Callable[[Values], Values]] = {
    "scale": _swap("scaled", "unscaled"),
    "embedding-scale": _swap_trained("base", "unscaled-embeddings"),
    "heads": lambda values: {**values, "heads": values["heads"][:2]},
    "add-or-concatenate": _swap_trained("base", "concatenated"),
    "positions": _swap_trained("base", "learned-positions"),
    "projections": _swap_trained("base", "no-projections"),
    "mask": _swap_trained("base", "unmasked"),
    "feed-forward": lambda values: {**values, "facts": _swap("with", "without")(values["facts"])},
    "residual": _swap_trained("base", "no-residual"),
    "layer-norm": _swap_trained("deep-post-norm", "deep-post-norm-cold"),
    "warm-up": _swap_trained("base", "deep-post-norm"),
    "smoothing": _swap_trained("base", "no-smoothing"),
    "bottleneck": _swap_trained("gru", "gru-attention"),
    "context": lambda values: {"models": [_senses(0.25, 0.27), _senses(0.26, 0.3)]},
    "resolution": lambda values: {**values, "lost": values["lost"][::-1]},
    "word-order": _swap("with", "without"),
    "embedding": lambda values: {**values, "rows": [{**row, "output": 0.5} for row in values["rows"]]},
    "normalisation": lambda values: {**values, "layer": {**values["layer"], "later": [0.5, 0.5]}},
    "parallel": lambda values: {
        **values,
        "rows": [{**row, "gru": [1.0], "lstm": [1.0], "transformer": [1.0]} for row in values["rows"]],
    },
    "gradients": lambda values: {
        **values,
        "curves": {**values["curves"], "lstm": values["curves"]["attention"]},
        "saturated": [[0.0] * len(values["gains"])] * 2,
    },
}
"""For each question, a change of its values that must change the conclusion."""


def _values(question: Question, folder: Path) -> Values:
    return STORED.get(question.name) or measured(question, Lab(folder=folder, show=Silent(), seeds=2))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lab")


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_other_values_give_another_conclusion(question: Question, folder: Path) -> None:
    values = _values(question, folder)
    otherwise = OTHERWISE[question.name](values)
    for words in (ENGLISH, KOREAN):
        now, then = (question.answer(each, words).conclusion for each in (values, otherwise))
        letters = [[letter for letter in text if not letter.isdigit()] for text in (now, then)]
        assert letters[0] != letters[1], "more than the digits is different"


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_an_answer_has_a_table_a_figure_and_both_languages(question: Question, folder: Path) -> None:
    values = _values(question, folder)
    for words in (ENGLISH, KOREAN):
        answer = question.answer(values, words)
        assert answer.figures
        assert answer.rows
        assert {len(row) for row in answer.rows} == {len(answer.head)}
        without_quotes = "".join(answer.conclusion.split('"')[::2])
        assert any("가" <= letter <= "힣" for letter in without_quotes) == (words is KOREAN)


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
    text = as_page(list(QUESTIONS.values()), [_values(question, folder) for question in QUESTIONS.values()], "ko")
    assert '<html lang="ko">' in text
    for question in QUESTIONS.values():
        assert question.korean in text
        assert f"tongsa lab {question.name}" in text


def test_means_have_intervals_of_students_t() -> None:
    mean = mean_of([1.0, 2.0, 3.0])
    assert mean.mean == 2.0
    assert mean.half == pytest.approx(4.303 / 3**0.5, rel=1e-3)
    assert difference([2.0, 3.0], [1.0, 2.0]).half == 0.0


def test_a_question_without_use_for_a_translator_refuses_it(folder: Path) -> None:
    lab = Lab(folder=folder, show=Silent(), seeds=2, run=folder)
    with pytest.raises(UsageError, match="mask is answered without a translator"):
        answer_questions([QUESTIONS["mask"]], lab, "en", folder / "mask.html")


@pytest.mark.parametrize(("page", "language"), [("lab.md", "en"), ("lab.ko.md", "ko")])
def test_the_documentation_lists_every_question(page: str, language: str) -> None:
    """Commands, questions, and which of them take a translator; the same in both languages."""
    rows = [line.split("|")[1:-1] for line in (DOCS / page).read_text(encoding="utf-8").splitlines() if "| `" in line]
    asked = [[cell.strip() for cell in row] for row in rows]
    assert [row[:2] for row in asked] == [
        [f"`tongsa lab {name}`", words_in(language)(question.english, question.korean)]
        for name, question in QUESTIONS.items()
    ]
    assert [bool(row[3]) for row in asked] == [question.takes_run for question in QUESTIONS.values()]


def test_both_pages_have_the_same_sections_and_commands() -> None:
    english, korean = ((DOCS / page).read_text(encoding="utf-8") for page in ("lab.md", "lab.ko.md"))
    assert english.count("\n## ") == korean.count("\n## ")
    assert english.split("```")[1] == korean.split("```")[1]


def test_steps_of_all_layers_are_timed_at_every_length(folder: Path) -> None:
    rows = QUESTIONS["parallel"].measure(Lab(folder=folder, show=Silent(), seeds=2))["rows"]
    assert [row["length"] for row in rows] == sorted({row["length"] for row in rows})
    assert all(min(row[name]) > 0 for row in rows for name in ("transformer", "gru", "lstm"))
