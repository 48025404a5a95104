from __future__ import annotations

import torch
from torch import Tensor

from tongsa.models.contracts import NO_MEMORY
from tongsa.models.memory_language_model import (
    INITIAL_H,
    QUESTION,
    MemoryLanguageModel,
    MemoryLanguageModelSection,
    band,
    unband,
)

WORDS = 13
SECTION = MemoryLanguageModelSection(d_model=7, hops=3, memories=4, dropout=0.0)
BEFORE = SECTION.memories - 1


def model(dropout: float = 0.0) -> MemoryLanguageModel:
    torch.manual_seed(1)
    section = MemoryLanguageModelSection(d_model=7, hops=3, memories=4, dropout=dropout)
    found = MemoryLanguageModel(section, WORDS + 1).double()
    for parameter in found.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.5)
    return found


def logits(net: MemoryLanguageModel, text: Tensor) -> Tensor:
    """The words before the last 6 (or fewer) are the memory."""
    return net.project(net.features(text[:, :BEFORE], text[:, BEFORE:]))


def by_the_paper(net: MemoryLanguageModel, words: Tensor) -> Tensor:
    """§5, for one word: the words before it, oldest first, are all that there is."""
    m, c = net.a.weight[words] + net.t_a, net.c.weight[words] + net.t_c
    u = torch.full((SECTION.d_model,), QUESTION, dtype=torch.double)
    for _ in range(SECTION.hops):
        p = torch.softmax(m @ u, dim=0)
        u = net.h.weight @ u + p @ c
        half = SECTION.d_model - SECTION.d_model // 2
        u = torch.cat([u[:half], torch.relu(u[half:])])
    return net.w.weight[:-1] @ u


def test_a_piece_of_text_at_once_equals_the_equations_of_the_paper_word_by_word() -> None:
    net = model()
    text = torch.randint(WORDS, (3, SECTION.memories - 1 + 6))
    found = logits(net, text)
    assert found.shape == (3, 6, WORDS)
    for row in range(3):
        for step in range(6):
            expected = by_the_paper(net, text[row, step : step + SECTION.memories])
            assert torch.allclose(found[row, step], expected, atol=1e-10)


def test_a_later_word_never_changes_an_earlier_logit_nor_does_one_beyond_the_memory() -> None:
    net = model()
    text = torch.randint(WORDS, (1, SECTION.memories - 1 + 6))
    before = logits(net, text)
    for place in range(text.shape[1]):
        changed = text.clone()
        changed[0, place] = (changed[0, place] + 1) % WORDS
        touched = (logits(net, changed) - before).abs().amax(dim=-1)[0] > 1e-12
        # The logits of step s come from the words s ... s + N - 1.
        assert touched.tolist() == [step <= place < step + SECTION.memories for step in range(6)]


def test_a_band_taken_out_and_put_back_has_zeros_beside_it() -> None:
    scores = torch.arange(2 * 5 * 7.0).view(2, 5, 7)
    taken = band(scores, 3)
    for row in range(5):
        assert torch.equal(taken[:, row], scores[:, row, row : row + 3])
    back = unband(taken, 7)
    inside = torch.zeros(5, 7, dtype=torch.bool)
    for row in range(5):
        inside[row, row : row + 3] = True
    assert torch.equal(back, scores * inside)


def test_weights_are_a_distribution_over_the_words_before() -> None:
    text = torch.randint(WORDS, (2, SECTION.memories + 2))
    seen = model().attend(text[:, :BEFORE], text[:, BEFORE:])
    assert [tuple(p.shape) for p in seen] == [(2, 3, SECTION.memories)] * SECTION.hops
    assert all(torch.allclose(p.sum(dim=-1), torch.ones(2, 3).double()) for p in seen)


def test_h_begins_as_a_part_of_the_identity_which_is_not_the_papers() -> None:
    fresh = MemoryLanguageModel(SECTION, WORDS + 1)
    assert torch.equal(fresh.h.weight, INITIAL_H * torch.eye(SECTION.d_model))


def test_without_a_memory_there_is_nothing_before_the_text() -> None:
    """`<pad>` is a zero vector, in training too; only its place in the memory is seen."""
    net = MemoryLanguageModel(SECTION, WORDS + 1)
    assert not net.a.weight[WORDS].any()
    assert not net.c.weight[WORDS].any()
    target = torch.randint(WORDS, (2, 5))
    pads = torch.full((2, BEFORE), WORDS)
    assert torch.equal(net.features(NO_MEMORY, target), net.features(pads, target))
    net.features(NO_MEMORY, target).sum().backward()
    assert net.a.weight.grad is not None
    assert not net.a.weight.grad[WORDS].any()


def test_dropout_acts_only_while_training() -> None:
    net = model(dropout=0.5)
    text = torch.randint(WORDS, (1, SECTION.memories + 2))
    assert not torch.equal(logits(net, text), logits(net, text))
    net.eval()
    assert torch.equal(logits(net, text), logits(net, text))
