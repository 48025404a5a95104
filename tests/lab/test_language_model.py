from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

from tongsa.base.errors import UsageError
from tongsa.base.progress import Silent
from tongsa.lab.language_model.experiment import Settings, run
from tongsa.lab.language_model.saving import read_model
from tongsa.lab.language_model.table import as_text
from tongsa.lab.language_model.training import PASSED_OVER, Plan, cut, looks_back, perplexity
from tongsa.models.memory_language_model import MemoryLanguageModel, MemoryLanguageModelShape

SHAPE = MemoryLanguageModelShape(words=9, d=6, hops=2, memories=5)


def test_pieces_hold_every_word_but_the_first_once_with_the_words_before_it() -> None:
    stream = torch.arange(1, 15)
    pieces = cut(stream, memories=5, length=4)
    counted = pieces.target[pieces.target != PASSED_OVER]
    assert counted.tolist() == list(range(2, 15))
    for text, target in zip(pieces.text, pieces.target, strict=True):
        for step in range(4):
            if target[step] != PASSED_OVER:
                before = list(range(int(target[step]) - 5, int(target[step])))
                assert text[step : step + 5].tolist() == [max(1, word) for word in before]


def test_perplexity_counts_every_word_however_the_text_is_cut() -> None:
    torch.manual_seed(1)
    model = MemoryLanguageModel(SHAPE)
    stream = torch.randint(SHAPE.words, (38,))
    one_by_one = torch.cat([stream[:1].expand(4), stream])
    with torch.no_grad():
        logits = [model(one_by_one[None, i : i + 5])[0] for i in range(len(stream) - 1)]
    losses = [float(cross_entropy(each, stream[None, i + 1])) for i, each in enumerate(logits)]
    expected = math.exp(sum(losses) / len(losses))
    for length, batch in ((50, 20), (4, 3), (37, 1)):
        assert abs(perplexity(model, stream, length, batch) - expected) < 1e-3


def test_the_rate_rises_and_falls_to_nothing() -> None:
    plan = Plan(warmup=10, peak=0.01)
    rates = [plan.rate(update, 100) for update in range(100)]
    assert rates.index(max(rates)) == 9
    assert rates[-1] < 0.001 * max(rates)


def sentences(count: int, seed: int) -> str:
    """The last word of a sentence is its first once more: four words back, beyond what a trigram sees."""
    draw = random.Random(seed)
    names = ["ara", "bom", "cha", "dal", "eun", "gil", "hae", "iru"]
    middle = ["goes", "runs"], ["far", "near"], ["says", "thinks"]
    lines = []
    for _ in range(count):
        name = draw.choice(names)
        lines.append(" ".join([name, *(draw.choice(words) for words in middle), name]))
    return "\n".join(lines) + "\n"


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path]:
    train, valid = tmp_path / "train.en", tmp_path / "valid.en"
    train.write_text(sentences(700, 1), encoding="utf-8")
    valid.write_text(sentences(100, 2), encoding="utf-8")
    return train, valid


def settings(train: Path, epochs: int) -> Settings:
    plan = Plan(epochs=epochs, piece=16, batch=8, peak=0.03, warmup=20, dropout=0.0)
    return Settings(text=str(train), d=32, hops=3, memories=10, plan=plan)


def test_it_learns_what_lies_further_back_than_a_trigram_sees(texts: tuple[Path, Path], tmp_path: Path) -> None:
    train, valid = texts
    asked = settings(train, epochs=12)
    result = run(asked, {"valid": valid}, tmp_path / "lm", False, Silent())
    # A name and three choices of two in six words: nothing can be below (8 * 2 * 2 * 2)^(1/6) = 2.0,
    # and who does not know the name again at the end is not below (8 * 2 * 2 * 2 * 8)^(1/6) = 2.83.
    assert 1.95 < result.memory_network["valid"] < 2.3
    assert result.trigram["valid"] > 2.8
    assert result.held_out == {"valid": 600}
    model, words = read_model(tmp_path / "lm")
    stream = torch.from_numpy(words.stream([line.split() for line in sentences(100, 2).splitlines()]))
    assert perplexity(model, stream) == result.memory_network["valid"]
    weights = looks_back(model, stream)
    assert weights.shape == (3, 10)
    assert torch.allclose(weights.sum(dim=1), torch.ones(3), atol=1e-5)
    shown = as_text(result, asked)
    assert f"{result.memory_network['valid']:.2f}" in shown
    assert "hop 3" in shown


def test_a_training_that_goes_on_ends_with_the_same_weights(texts: tuple[Path, Path], tmp_path: Path) -> None:
    train, valid = texts
    asked = settings(train, epochs=2)
    whole = run(asked, {"valid": valid}, tmp_path / "whole", False, Silent())

    class Stop(Silent):
        def say(self, text: str) -> None:
            if text.startswith("epoch 2 of"):  # trained, not yet written
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(asked, {"valid": valid}, tmp_path / "cut", False, Stop())
    with pytest.raises(UsageError, match="holds a language model already"):
        run(asked, {"valid": valid}, tmp_path / "cut", False, Silent())
    with pytest.raises(UsageError, match="other settings: plan"):
        run(settings(train, epochs=3), {"valid": valid}, tmp_path / "cut", True, Silent())
    again = run(asked, {"valid": valid}, tmp_path / "cut", True, Silent())
    assert again.memory_network == whole.memory_network
    assert again.curve == whole.curve
    one, other = (read_model(tmp_path / name)[0] for name in ("whole", "cut"))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_settings_that_cannot_be_are_told_together(tmp_path: Path) -> None:
    asked = Settings(text="nowhere", hops=0, d=1, plan=Plan(epochs=0))
    with pytest.raises(UsageError) as refused:
        run(asked, {"valid": tmp_path / "nowhere"}, tmp_path / "lm", False, Silent())
    assert len(refused.value.explanation) == 3
