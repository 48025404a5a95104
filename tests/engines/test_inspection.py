"""What was seen: values for the page, and a notebook's drawing of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from small_translators import SMALL, random_translator
from tongsa.base.errors import UsageError
from tongsa.engines.inspection import Facts, Inspection, payload, shown
from tongsa.models.contracts import Attention
from tongsa.pages.attention import sentence
from tongsa.translation.translator import Translator


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return Translator.load(random_translator(tmp_path_factory.mktemp("t") / "ko-en"), engine="native")


def seen(source: int = 3, target: int = 2, **kinds: list[torch.Tensor]) -> Inspection:
    weights = {"encoder": [], "decoder": [], "cross": [], **kinds}
    tokens = [(*(f"▁{letter}" for letter in "abcdefgh"[: count - 1]), "</s>") for count in (source, target)]
    return Inspection(tokens[0], tokens[1], Attention(**weights), Facts(architecture="made"))


def test_weights_are_layer_head_query_key_and_rows_sum_to_one(translator: Translator) -> None:
    values = json.loads(json.dumps(payload(translator.inspect("고양이가 자요.", "The cat sleeps."))))
    source, target = len(values["source"]), len(values["target"])
    sizes = {"encoder": (source, source), "decoder": (target, target), "cross": (target, source)}
    for kind, size in sizes.items():
        weights = torch.tensor(values[kind])
        assert weights.shape == (2, SMALL.heads, *size)
        assert torch.allclose(weights.sum(-1), torch.ones(()), atol=1e-3 * max(size))
    assert torch.tensor(values["decoder"]).triu(1).abs().max() == 0


def test_values_say_what_labels_need(translator: Translator) -> None:
    values = payload(translator.inspect("고양이가 자요."))
    told = ("languages", "architecture", "d_model", "d_k", "positions")
    assert [values[key] for key in told] == [["ko", "en"], "transformer", 32, 8, "sinusoidal"]
    assert (values["position_width"], values["position_table"]) == (32, None), "the page computes sinusoids itself"


def test_a_kind_that_the_model_lacks_is_an_empty_list() -> None:
    values = payload(seen(cross=[torch.full((1, 1, 2, 3), 1 / 3)]))
    assert (values["encoder"], values["decoder"], values["position_table"]) == ([], [], None)
    assert values["cross"] == [[[[0.3333] * 3] * 2]]


def test_weights_that_do_not_fit_the_tokens_are_left_out() -> None:
    assert seen(cross=[torch.full((1, 1, 2, 4), 0.25)]).kinds() == []


def test_the_decoders_keys_are_its_output_one_step_late() -> None:
    kind = seen(target=3, decoder=[torch.ones(1, 1, 3, 3)]).kinds()[0]
    assert kind.queries == ("▁a", "▁b", "</s>")
    assert kind.keys == ("<start>", "▁a", "▁b")


def test_the_sharpest_layer_looks_somewhere() -> None:
    vague, clear = torch.full((1, 2, 3, 3), 1 / 3), torch.eye(3).expand(1, 2, 3, 3)
    assert seen(target=3, cross=[vague, clear]).kinds()[0].sharpest() == 1


def test_tokens_are_shown_as_they_are_read() -> None:
    assert [shown(token) for token in ("▁dog", "s", "▁", ".", "</s>", "<start>", "자")] == [
        "dog", "·s", "␣", ".", "‹end›", "‹start›", "·자"
    ]  # fmt: skip
    assert sentence(("▁The", "▁dog", "s", ".", "</s>")) == "The dogs."


def test_a_translation_shows_its_attention_when_it_is_asked(translator: Translator) -> None:
    translation = translator.translate(["고양이가 자요."])[0]
    found = translation.attention
    assert found is not None
    assert found.target_tokens[:-1] == translation.tokens
    assert found is translation.attention
    assert translator.translate(["  "])[0].attention is None


def test_a_notebook_draws_it_in_a_frame_of_its_own(translator: Translator) -> None:
    drawn = translator.inspect("고양이가 자요.")._repr_html_()
    assert drawn.startswith('<iframe title="Attention" sandbox="allow-scripts"')
    assert drawn.count("<") == 2  # the frame alone: all else is quoted inside it
    assert "&lt;!doctype html&gt;" in drawn


def test_nothing_to_look_at_is_told(translator: Translator) -> None:
    with pytest.raises(UsageError, match="no text"):
        translator.inspect("   ")


def test_more_than_the_learned_positions_is_told(tmp_path: Path) -> None:
    from dataclasses import replace

    config = replace(SMALL, positions="learned", max_positions=12)
    translator = Translator.load(random_translator(tmp_path / "t", config=config), engine="native")
    values = payload(translator.inspect("자요.", "It."))
    assert values["positions"] == "learned"
    assert len(values["position_table"]) == 12  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="12 positions"):
        translator.inspect("고양이가 자요. " * 12, "It.")
