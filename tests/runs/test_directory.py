"""The translator directory: written whole, read with suspicion."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import tongsa.runs.directory as module
from tongsa.base.errors import DirectoryError
from tongsa.config import Recipe, SubwordsSection
from tongsa.models import build
from tongsa.models.weights import load_model, named_weights, read_tensors
from tongsa.runs.card import COMPACT_FORMAT, Card, Provenance, Score
from tongsa.runs.directory import Run
from tongsa.text.subwords import Subwords, learn
from tongsa.translation.translator import Translator

RECIPE = Recipe().with_settings(
    {
        "model.encoder_layers": "1",
        "model.decoder_layers": "1",
        "model.d_model": "8",
        "model.d_ff": "8",
        "model.heads": "2",
    }
)


@pytest.fixture(scope="module")
def subwords() -> Subwords:
    lines = ["the cat sat on the mat", "a dog ran over the hill"] * 9
    vocabulary = learn(lines, SubwordsSection(size=290, character_coverage=1.0), 1)
    return Subwords(vocabulary, vocabulary)


@pytest.fixture
def directory(tmp_path: Path, subwords: Subwords) -> Path:
    """A translator that has learnt nothing."""
    torch.manual_seed(0)
    subwords.save(tmp_path)
    weights = named_weights(build(RECIPE.model, len(subwords.source), None))
    card = Card(source="en", target="ko", recipe=RECIPE, training=Provenance(examples=3), scores={"bleu": Score(1.5)})
    Run(tmp_path).write_translator(card, weights)
    return tmp_path


def load(directory: Path) -> Translator:
    return Translator.load(directory, engine="native", device="cpu")


def test_a_card_gives_back_what_was_written(directory: Path) -> None:
    card = Run(directory).read_card()
    assert (card.source, card.target, card.recipe) == ("en", "ko", RECIPE)
    assert card.training == Provenance(examples=3)
    assert card.scores == {"bleu": Score(1.5)}


def test_tied_weights_are_written_once(directory: Path, subwords: Subwords) -> None:
    shape = (len(subwords.source), 8)
    tables = [name for name, weight in load_file(directory / "weights.safetensors").items() if weight.shape == shape]
    assert tables == ["source_embedding.weight"]


def test_loaded_weights_are_those_that_were_written(directory: Path, subwords: Subwords) -> None:
    model = load_model(Run(directory), Run(directory).read_card(), subwords, torch.device("cpu"))
    written = load_file(directory / "weights.safetensors")
    assert all(torch.equal(parameter, written[name]) for name, parameter in model.named_parameters())
    assert not model.training


def test_two_vocabularies_make_a_directory_too(tmp_path: Path, subwords: Subwords) -> None:
    other = learn(["하나 둘 셋 넷 다섯"] * 9, SubwordsSection(size=275, character_coverage=1.0), 1)
    separate = Subwords(subwords.source, other)
    separate.save(tmp_path)
    weights = named_weights(build(RECIPE.model, len(separate.source), len(separate.target)))
    Run(tmp_path).write_translator(Card(source="en", target="ko", recipe=RECIPE), weights)
    assert len(load(tmp_path).translate(["the cat"])) == 1


def change(directory: Path, **values: Any) -> None:
    path = directory / "translator.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def no_card(directory: Path) -> None:
    (directory / "translator.json").unlink()


def half_a_card(directory: Path) -> None:
    path = directory / "translator.json"
    path.write_text(path.read_text()[:40])


def card_without_recipe(directory: Path) -> None:
    path = directory / "translator.json"
    values = json.loads(path.read_text())
    del values["recipe"]
    path.write_text(json.dumps(values))


def no_weights(directory: Path) -> None:
    (directory / "weights.safetensors").unlink()


def half_the_weights(directory: Path) -> None:
    path = directory / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def weights_of_another_model(directory: Path) -> None:
    weights = load_file(directory / "weights.safetensors")
    weights["source_embedding.weight"] = torch.zeros(5, 8)
    del weights["decoder.0.feed_forward.linear_1.bias"]
    weights["surprise"] = torch.zeros(1)
    save_file(weights, directory / "weights.safetensors")


def no_subwords(directory: Path) -> None:
    (directory / "subwords.model").unlink()


def half_the_subwords(directory: Path) -> None:
    (directory / "subwords.model").write_bytes(b"\x0a\x03")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (no_card, "is not a translator"),
        (half_a_card, "is damaged"),
        (card_without_recipe, "has no 'recipe'"),
        (lambda d: change(d, format=COMPACT_FORMAT + 1, tongsa="9.9"), "has format 4"),
        (lambda d: change(d, format="x"), "is damaged"),
        (lambda d: change(d, training={"updates": "many"}), "is damaged"),
        (lambda d: change(d, training=[]), "is damaged"),
        (lambda d: change(d, scores={"bleu": {"signature": "no number"}}), "is damaged"),
        (lambda d: change(d, confidence=[[1.0]]), "is damaged"),
        (lambda d: change(d, task="lm"), "is not a translator: its model was trained for the task lm"),
        (lambda d: change(d, recipe={"model": {"d_modle": 8}}), "did you mean d_model"),
        (lambda d: (d / "translator.json").write_text("[]"), "is damaged"),
        (no_weights, "weights.safetensors is missing"),
        (half_the_weights, "cannot be read"),
        (weights_of_another_model, "does not fit"),
        (no_subwords, "subwords"),
        (half_the_subwords, "subwords.model"),
    ],
)
def test_a_damaged_directory_is_told_and_never_half_loaded(
    directory: Path, spoil: Callable[[Path], object], told: str
) -> None:
    spoil(directory)
    with pytest.raises(DirectoryError) as caught:
        load(directory)
    assert told in str(caught.value)


def test_a_translator_of_a_newer_format_says_what_to_do(directory: Path) -> None:
    change(directory, format=COMPACT_FORMAT + 1, tongsa="9.9")
    with pytest.raises(DirectoryError, match=r"9\.9.*pip install --upgrade tongsa"):
        Run(directory).read_card()


def test_all_weights_that_do_not_fit_are_told_together(directory: Path) -> None:
    weights_of_another_model(directory)
    with pytest.raises(DirectoryError) as caught:
        load(directory)
    for part in ("linear_1.bias is missing", "surprise is not known", "[5, 8]"):
        assert part in str(caught.value)


def test_a_missing_directory_and_an_unfinished_training_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(DirectoryError, match="There is no such directory"):
        Run(tmp_path / "none").read_card()
    (tmp_path / "recipe.toml").touch()
    with pytest.raises(DirectoryError, match="tongsa resume"):
        Run(tmp_path).read_card()


def test_a_new_directory_has_its_card_last(tmp_path: Path, subwords: Subwords, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between the two files it is no translator yet."""
    written = []
    write = module.write_atomically

    def first_only(path: Path, content: bytes | str) -> None:
        if written:
            raise KeyboardInterrupt
        written.append(path.name)
        write(path, content)

    monkeypatch.setattr(module, "write_atomically", first_only)
    weights = named_weights(build(RECIPE.model, len(subwords.source), None))
    with pytest.raises(KeyboardInterrupt):
        Run(tmp_path).write_translator(Card(source="en", target="ko", recipe=RECIPE), weights)
    with pytest.raises(DirectoryError, match="is not a translator"):
        Run(tmp_path).read_card()


def test_a_pickle_is_never_opened(directory: Path) -> None:
    """Weights of a stranger run no code: what is not safetensors is refused."""
    torch.save({"source_embedding.weight": torch.zeros(1)}, directory / "weights.safetensors")
    with pytest.raises(DirectoryError, match="cannot be read"):
        read_tensors(directory / "weights.safetensors")
