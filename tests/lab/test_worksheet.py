"""Exercises: their answers, calculated again with numpy from what is given; and what is given is the model's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from tongsa.lab.walk_through.exercises import Exercise, Numbers, exercises
from tongsa.lab.walk_through.steps import Walk, walk_through
from tongsa.lab.walk_through.worksheet import draw_worksheet
from tongsa.translation.translator import Translator

SENTENCE = "나는 책을 읽는다."
NAMES = ["position", "input", "score", "softmax", "head", "layer-norm", "parameters", "beam", "penalty"]


@pytest.fixture(scope="module")
def translator(trained_translator: Path) -> Translator:
    return Translator.load(trained_translator, engine="native", threads=1)


@pytest.fixture(scope="module")
def walk(translator: Translator) -> Walk:
    return walk_through(translator, SENTENCE, head=2)


@pytest.fixture(scope="module")
def found(translator: Translator, walk: Walk) -> dict[str, Exercise]:
    return {exercise.name: exercise for exercise in exercises(translator, walk)}


def _matrix(of: Numbers) -> np.ndarray:
    return np.array(of.values)


def test_every_kind_of_exercise_is_there(found: dict[str, Exercise]) -> None:
    assert list(found) == NAMES


def test_answers_follow_from_what_is_given(found: dict[str, Exercise], walk: Walk) -> None:
    given = {name: _matrix(exercise.given) for name, exercise in found.items()}
    root = round(np.sqrt(walk.facts["d_model"]), 2)
    angles = given["position"][0] / given["position"][1]
    query, keys = given["score"][0], given["score"][1:]
    visible = np.exp(np.append(given["softmax"][0, :-1], -np.inf))
    x, gain, shift = given["layer-norm"]
    normal = (x - x.mean()) / x.std()
    lengths = ((5 + given["penalty"][:, 1]) / 6) ** 0.6
    calculated = {
        "position": [[np.sin(angles[0]), np.cos(angles[0]), np.sin(angles[1]), np.cos(angles[1])]],
        "input": [given["input"][0] * root + given["input"][1]],
        "score": [keys @ query, keys @ query / 2],
        "softmax": [visible, visible / visible.sum()],
        "head": [given["head"][:, 0] @ given["head"][:, 1:]],
        "penalty": np.stack([lengths, given["penalty"][:, 0] / lengths], axis=1),
    }
    for name, answer in calculated.items():
        np.testing.assert_allclose(_matrix(found[name].answer), answer, rtol=0, atol=0.0051, err_msg=name)
    answers = found["layer-norm"].answer
    for row, expected in zip(answers.values, ([x.mean()], [x.var()], normal, normal * gain + shift), strict=True):
        np.testing.assert_allclose(row, expected, rtol=0, atol=0.0051)


def test_the_beam_keeps_the_two_likeliest(found: dict[str, Exercise]) -> None:
    sums = _matrix(found["beam"].given).sum(axis=1)
    total, kept = _matrix(found["beam"].answer).T
    np.testing.assert_allclose(total, sums, rtol=0, atol=1e-9)
    assert set(np.flatnonzero(kept)) == set(np.argsort(-sums)[:2])


def test_parameters_are_those_of_the_file(found: dict[str, Exercise], trained_translator: Path) -> None:
    d, d_k, heads, d_ff = found["parameters"].given.values[0]
    attention = 3 * (d + 1) * d_k * heads + (d_k * heads + 1) * d
    network, norms = (d + 1) * d_ff + (d_ff + 1) * d, 4 * d
    assert found["parameters"].answer.values[0] == (attention, network, norms, attention + network + norms)
    weights = load_file(trained_translator / "weights.safetensors")
    assert attention + network + norms == sum(
        each.size for name, each in weights.items() if name.startswith("encoder.0.")
    )


def test_what_is_given_is_of_this_model(found: dict[str, Exercise], walk: Walk) -> None:
    """And where all numbers are used, the model finds the same, but for the rounding."""
    place = 2
    near = {"rtol": 0, "atol": 0.03}
    np.testing.assert_allclose(found["position"].answer.values[0], walk.find("source", "positions")[place, :4], **near)
    np.testing.assert_allclose(found["input"].answer.values[0], walk.find("source", "input")[place, :4], **near)
    np.testing.assert_allclose(
        found["softmax"].answer.row("softmax"), walk.find("decoder", "weights")[place, : place + 2], **near
    )
    np.testing.assert_allclose(found["head"].answer.values[0], walk.find("decoder", "head")[place, :3], **near)
    np.testing.assert_allclose(_matrix(found["score"].given)[0], walk.find("encoder", "Q")[place, :4], **near)
    np.testing.assert_allclose(found["layer-norm"].given.row("x"), walk.find("encoder", "sum")[place, :4], **near)


@pytest.mark.parametrize(("language", "said"), [("en", "Compute"), ("ko", "구하라")])
def test_answers_stand_after_all_questions(found: dict[str, Exercise], walk: Walk, language: str, said: str) -> None:
    page = draw_worksheet(walk, list(found.values()), language)
    asked, answered = page.split('id="solutions"')
    assert said in asked
    assert said not in answered
    assert asked.count('class="exercise"') == answered.count('class="exercise"') == len(NAMES)
