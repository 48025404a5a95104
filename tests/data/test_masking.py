from __future__ import annotations

import torch

from tongsa.data.masking import BertTokens, mask_tokens

TOKENS = BertTokens(first=100, mask=101, pad=102)


def masked(pieces: torch.Tensor, seed: int = 1) -> tuple[torch.Tensor, ...]:
    return mask_tokens(pieces, TOKENS, torch.Generator().manual_seed(seed))


def test_fifteen_percent_are_chosen_and_shown_as_the_paper_says() -> None:
    pieces = torch.randint(0, 100, (400, 100), generator=torch.Generator().manual_seed(2))
    source, mask, chosen, labels = masked(pieces)
    assert bool(mask.all())
    assert torch.equal(labels[:, 1:], pieces)
    assert bool((labels[:, 0] == TOKENS.first).all())
    assert not bool(chosen[:, 0].any()), "[CLS] is never masked"
    assert torch.equal(source[~chosen], labels[~chosen])
    count = int(chosen.sum())
    assert 0.145 < count / pieces.numel() < 0.155
    shown, right = source[chosen], labels[chosen]
    assert 0.78 < int((shown == TOKENS.mask).sum()) / count < 0.82
    kept = int((shown == right).sum()) / count  # a random token is the right one now and then
    assert 0.09 < kept < 0.12
    assert bool((shown <= TOKENS.mask).all())


def test_padding_is_never_chosen_and_a_short_text_has_one_token_to_predict() -> None:
    pieces = torch.full((1, 6), TOKENS.pad)
    pieces[0, :2] = torch.tensor([7, 8])
    for seed in range(20):
        source, mask, chosen, labels = masked(pieces, seed)
        assert mask[0].tolist() == [True] * 3 + [False] * 4
        assert 1 <= int(chosen.sum()) <= 2
        assert not bool(chosen[~mask].any())
        assert source.shape == labels.shape == (1, 7)


def test_the_same_seed_masks_the_same_tokens() -> None:
    pieces = torch.randint(0, 100, (4, 50), generator=torch.Generator().manual_seed(3))
    assert all(map(torch.equal, masked(pieces, 4), masked(pieces, 4)))
    assert not torch.equal(masked(pieces, 4)[2], masked(pieces, 5)[2])
