"""The context vector, step by step: partial sums with attention, what is left of each word without."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from tongsa.config.recipe import Recipe, parse_settings
from tongsa.lab.question import words_in
from tongsa.lab.walk_through.context import Squeezed, Summed, of_recurrent, of_walk
from tongsa.lab.walk_through.context_page import context_section, draw_context, told
from tongsa.lab.walk_through.page import draw_walk
from tongsa.lab.walk_through.steps import walk_through
from tongsa.models import build
from tongsa.translation.translator import Translator

SENTENCE = "나는 책을 읽는다."


@pytest.fixture(scope="module")
def translator(trained_translator: Path) -> Translator:
    return Translator.load(trained_translator, engine="native", threads=1)


def _recurrent(translator: Translator, architecture: str, monkeypatch: pytest.MonkeyPatch) -> Translator:
    """The translator with a new model in place of its own."""
    torch.manual_seed(1)
    settings = {"model.architecture": architecture, "model.d_model": "16", "model.layers": "1"}
    section = Recipe.from_values(parse_settings(settings), "a test").model
    model = build(section, len(translator.subwords.source), None).eval()
    monkeypatch.setattr(translator.native, "model", model)
    return translator


def test_the_terms_add_up_to_the_output_of_the_head(translator: Translator) -> None:
    walk = walk_through(translator, SENTENCE, head=2)
    context = of_walk(walk)
    torch.testing.assert_close(context.partial()[:, -1], walk.find("cross", "head"), atol=1e-4, rtol=0)
    assert 'class="stepper"' in draw_walk(walk, "en")


def test_a_recurrent_model_with_attention_sums_its_states(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = of_recurrent(_recurrent(translator, "gru-attention", monkeypatch), SENTENCE)
    assert isinstance(context, Summed)
    torch.testing.assert_close(context.weights.sum(dim=1), torch.ones(len(context.target)))
    assert context.values.shape[0] == len(context.source)


@pytest.mark.parametrize("architecture", ["rnn", "gru", "lstm"])
def test_one_vector_changes_by_what_is_left_out(
    translator: Translator, architecture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recurrent = _recurrent(translator, architecture, monkeypatch)
    context = of_recurrent(recurrent, SENTENCE)
    assert isinstance(context, Squeezed)
    count = len(context.source)
    assert torch.equal(context.influence, context.influence.tril()), "what was not read changes nothing"
    ((_, ids),) = recurrent.encode([SENTENCE])
    model = cast(Any, recurrent.native.model)
    tokens = torch.tensor([[*ids, recurrent.native.special.end]])
    shorter = torch.cat([tokens[:, :1], tokens[:, 2:]], dim=1)
    with torch.no_grad():
        whole, without = (
            model.encode(each, torch.ones_like(each, dtype=torch.bool))[-1][0] for each in (tokens, shorter)
        )
    torch.testing.assert_close(context.vectors[-1], whole[0])
    changed = float((whole - without).norm() / whole.norm())
    assert float(context.influence[count - 1, 1]) == pytest.approx(changed, abs=1e-5)


def test_every_step_of_the_page_shows_something(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    context = of_recurrent(_recurrent(translator, "gru", monkeypatch), SENTENCE)
    for language, said in (("en", "One vector"), ("ko", "벡터 하나")):
        page = draw_context(context, "gru", language)
        assert said in page
        steps = int(re.search(r'max="(\d+)"', page)[1])  # type: ignore[index]
        assert [int(number) for number in re.findall(r'<div data-from="(\d+)"', page)] == list(range(1, steps + 1))


def test_the_text_follows_from_the_numbers() -> None:
    def context(first: float, last: float) -> Squeezed:
        influence = torch.tensor([[1.0, 0.0, 0.0], [first, last, 0.0], [first, last, 0.5]])
        words = ("a", "b", "c")
        return Squeezed(source=words, target=words, vectors=torch.ones(3, 8), influence=influence)

    english = words_in("en")
    assert "the beginning has faded" in told(context(0.1, 0.6), 8, english)
    assert "the beginning counts most" in told(context(0.6, 0.1), 8, english)
    assert "both ends count alike" in told(context(0.3, 0.3), 8, english)


def test_steps_that_are_not_shown_are_told() -> None:
    context = Summed(source=("a", "b"), target=("x",) * 40, weights=torch.full((40, 2), 0.5), values=torch.ones(2, 4))
    content = context_section(context, words_in("en")).content
    assert "The first 12 of 40 steps are shown." in content
    assert 'max="24"' in content
