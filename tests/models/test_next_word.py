"""The decoder is shown the word that it will take next, and the one it took last."""

from __future__ import annotations

import torch

from tongsa.models.next_word import NextWordSection, NextWordTransformer

PAD, SHIFT = 9, 2
BEGINS = torch.tensor([False, False, True, True, True, False, False, False, False, False])
"""Pieces 2, 3 and 4 begin a word."""
TAKES = torch.tensor([False, False, True, False, False, False, False, False, True, False])
"""Tokens 2 and 8 take one."""


def small() -> NextWordTransformer:
    torch.manual_seed(1)
    section = NextWordSection(d_model=16, d_ff=32, heads=2, encoder_layers=1, decoder_layers=2, dropout=0.0)
    model = NextWordTransformer(section, 10, 10).eval()
    model.know_words(BEGINS, TAKES)
    return model


def test_words_are_found_at_their_first_pieces() -> None:
    source = torch.tensor([[2, 5, 3, 4, 6, 0], [3, 0, PAD, PAD, PAD, PAD]])
    positions = small()._word_positions(source, source != PAD)
    assert positions.tolist() == [[0, 2, 3, 5], [0, 1, 1, 1]]


def test_steps_compute_what_teacher_forcing_computes() -> None:
    model = small()
    source = torch.tensor([[2, 5, 3, 0], [3, 4, 0, PAD]])
    target = torch.tensor([[PAD, SHIFT, 5, SHIFT, 6], [PAD, 5, SHIFT, 8, 7]])
    with torch.no_grad():
        memory = model.encode(source, source != PAD)
        whole = model.project(model.features(memory, target))
        state = model.start(memory)
        for step in range(target.shape[1]):
            logits, state = model.step(target[:, step], state)
            torch.testing.assert_close(logits, whole[:, step], rtol=1e-4, atol=1e-5)


def test_what_is_shown_depends_on_the_words_taken() -> None:
    model = small()
    source = torch.tensor([[2, 3, 4, 0]])
    with torch.no_grad():
        memory = model.encode(source, source != PAD)
        one, other = (model.features(memory, torch.tensor([[PAD, 5, token]])) for token in (SHIFT, 6))
        encoded, _, words = memory
        shown = model._shown(words, torch.tensor([[0, 2, 7]]))
        torch.testing.assert_close(shown[:, 0], model.next_word(encoded[:, 0]))
        torch.testing.assert_close(shown[:, 1], model.next_word(encoded[:, 2]) + model.last_word(encoded[:, 1]))
        torch.testing.assert_close(shown[:, 2], model.next_word(encoded[:, 3]) + model.last_word(encoded[:, 2]))
    torch.testing.assert_close(one[:, :2], other[:, :2])
    assert not torch.allclose(one[:, 2], other[:, 2])
