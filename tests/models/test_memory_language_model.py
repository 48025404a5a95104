from __future__ import annotations

import torch
from torch import Tensor

from tongsa.models.memory_language_model import (
    H_AT_FIRST,
    QUESTION,
    MemoryLanguageModel,
    MemoryLanguageModelShape,
    band,
    unband,
)

SHAPE = MemoryLanguageModelShape(words=13, d=7, hops=3, memories=4)


def model(p_drop: float = 0.0) -> MemoryLanguageModel:
    torch.manual_seed(1)
    found = MemoryLanguageModel(SHAPE, p_drop).double()
    for parameter in found.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.5)
    return found


def by_the_paper(net: MemoryLanguageModel, words: Tensor) -> Tensor:
    """§5, for one word: the words before it, oldest first, are all that there is."""
    m, c = net.a.weight[words] + net.t_a, net.c.weight[words] + net.t_c
    u = torch.full((SHAPE.d,), QUESTION, dtype=torch.double)
    for _ in range(SHAPE.hops):
        p = torch.softmax(m @ u, dim=0)
        u = net.h.weight @ u + p @ c
        half = SHAPE.d - SHAPE.d // 2
        u = torch.cat([u[:half], torch.relu(u[half:])])
    return net.w.weight @ u


def test_a_piece_of_text_at_once_equals_the_equations_of_the_paper_word_by_word() -> None:
    net = model()
    text = torch.randint(SHAPE.words, (3, SHAPE.memories - 1 + 6))
    found = net(text)
    assert found.shape == (3, 6, SHAPE.words)
    for row in range(3):
        for step in range(6):
            expected = by_the_paper(net, text[row, step : step + SHAPE.memories])
            assert torch.allclose(found[row, step], expected, atol=1e-10)


def test_a_later_word_never_changes_an_earlier_logit_nor_does_one_beyond_the_memory() -> None:
    net = model()
    text = torch.randint(SHAPE.words, (1, SHAPE.memories - 1 + 6))
    before = net(text)
    for place in range(text.shape[1]):
        changed = text.clone()
        changed[0, place] = (changed[0, place] + 1) % SHAPE.words
        touched = (net(changed) - before).abs().amax(dim=-1)[0] > 1e-12
        # The logits of step s come from the words s ... s + N - 1.
        assert touched.tolist() == [step <= place < step + SHAPE.memories for step in range(6)]


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
    seen: list[Tensor] = []
    model()(torch.randint(SHAPE.words, (2, SHAPE.memories + 2)), seen)
    assert [tuple(p.shape) for p in seen] == [(2, 3, SHAPE.memories)] * SHAPE.hops
    assert all(torch.allclose(p.sum(dim=-1), torch.ones(2, 3).double()) for p in seen)


def test_h_begins_as_a_part_of_the_identity_which_is_not_the_papers() -> None:
    fresh = MemoryLanguageModel(SHAPE)
    assert torch.equal(fresh.h.weight, H_AT_FIRST * torch.eye(SHAPE.d))


def test_dropout_acts_only_while_training() -> None:
    net = model(p_drop=0.5)
    text = torch.randint(SHAPE.words, (1, SHAPE.memories + 2))
    assert not torch.equal(net(text), net(text))
    net.eval()
    assert torch.equal(net(text), net(text))
