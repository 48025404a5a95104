"""A Transformer that begins as a lexicon of its training text."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from small_translators import SMALL
from tongsa.data.ids import PairIds, Sentences
from tongsa.models import build_a
from tongsa.models.lexical_start import neighbour_vectors, start_as_lexicon
from tongsa.models.transformer import Transformer

WORDS = 20
SIZE = 2 * WORDS + 5
"""Ids below WORDS are source words, the next WORDS their translations; then a few that are never seen, and `<pad>`."""


def side(rows: list[list[int]]) -> Sentences:
    ends = np.cumsum([0, *map(len, rows)])
    return Sentences(np.array([id for row in rows for id in row], np.uint16), ends.astype(np.int64))


def text(sentences: int = 600, length: int = 5) -> PairIds:
    """Every source word n is written as WORDS + n, in reverse order."""
    draw = np.random.default_rng(0)
    rows = [draw.choice(WORDS, length, replace=False).tolist() for _ in range(sentences)]
    return PairIds(side(rows), side([[id + WORDS for id in row[::-1]] for row in rows]))


def started(*, seed: int = 1, tied: bool = True, joint: bool = True, norm: str = "pre") -> Transformer:
    torch.manual_seed(0)
    section = dataclasses.replace(SMALL, tied=tied, norm=norm)
    model = build_a(Transformer, section, SIZE, None if joint else SIZE)
    start_as_lexicon(model, text(), seed)
    return model.eval()


def found_of_three(model: Transformer) -> float:
    """How many of a sentence's three translations are among the three likeliest first words, on average."""
    draw = np.random.default_rng(1)
    source = torch.from_numpy(np.stack([draw.choice(WORDS, 3, replace=False) for _ in range(50)]))
    start = torch.full((len(source), 1), SIZE - 1)
    with torch.no_grad():
        logits = model(source, torch.ones_like(source, dtype=torch.bool), start)[:, 0, WORDS : 2 * WORDS]
    return float((logits.topk(3).indices[:, :, None] == source[:, None, :]).sum() / len(source))


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("tied", "joint"), [(True, True), (True, False), (False, True), (False, False)])
def test_before_any_update_the_model_prefers_translations_of_the_sentence(tied: bool, joint: bool, norm: str) -> None:
    assert found_of_three(started(tied=tied, joint=joint, norm=norm)) > 1.2


def test_a_random_model_does_not() -> None:
    torch.manual_seed(0)
    assert found_of_three(build_a(Transformer, SMALL, SIZE, None).eval()) < 1  # 0.45 by chance


def test_vectors_have_the_length_of_random_ones_and_pad_stays_zero() -> None:
    table = started().source_embedding.weight.detach()
    torch.testing.assert_close(table[:-1].norm(dim=1), torch.ones(SIZE - 1))
    assert not table[-1].any()


def test_a_source_word_is_nearest_to_its_translation() -> None:
    table = started().source_embedding.weight.detach()
    nearness = table[:WORDS] @ table[WORDS : 2 * WORDS].T
    assert nearness.argmax(dim=1).tolist() == list(range(WORDS))


def test_words_with_the_same_neighbours_have_similar_vectors() -> None:
    """Words 0 and 1 stand between 2 and 3, words 4 and 5 between 6 and 7."""
    rows = [[2, word, 3] for word in (0, 1)] * 20 + [[6, word, 7] for word in (4, 5)] * 20
    torch.manual_seed(0)
    vectors = neighbour_vectors(side(rows), 9, 8)
    assert vectors[0] @ vectors[1] > 0.9
    assert vectors[4] @ vectors[5] > 0.9
    assert abs(float(vectors[0] @ vectors[4])) < 0.5


def test_text_without_neighbours_has_no_such_vectors() -> None:
    assert not neighbour_vectors(side([[1], [2], [3]]), 5, 4).any()


def test_the_same_seed_gives_the_same_weights_and_leaves_other_random_numbers_alone() -> None:
    first, again, other = started(), started(), started(seed=2)
    for a, b in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(first.source_embedding.weight, other.source_embedding.weight)
    torch.manual_seed(7)
    expected = torch.rand(3)
    model = build_a(Transformer, SMALL, SIZE, None)
    torch.manual_seed(7)
    start_as_lexicon(model, text(), 1)
    assert torch.equal(torch.rand(3), expected)


def test_sublayers_that_begin_with_0_learn_from_the_first_update_on() -> None:
    model = started().train()
    source, target, labels = torch.tensor([[2, 7, 11]]), torch.tensor([[SIZE - 1, 31, 27]]), torch.tensor([31, 27, 22])
    logits = model(source, torch.ones_like(source, dtype=torch.bool), target)[0]
    torch.nn.functional.cross_entropy(logits, labels).backward()
    silent = {name: each for name, each in model.named_parameters() if name.endswith("weight") and not each.any()}
    assert len(silent) == 2 * (SMALL.encoder_layers + SMALL.decoder_layers)
    for name, each in silent.items():
        assert each.grad is not None, name
        assert each.grad.any(), name
