"""Trees of tensors, as search reorders them."""

from __future__ import annotations

import torch
from torch import Tensor

from tongsa.models.contracts import repeat, select, token_mask


def test_select_takes_rows_of_every_tensor_of_a_tree() -> None:
    tree = (torch.tensor([[1], [2], [3]]), (torch.tensor([10, 20, 30]), ()))
    first, (second, nothing) = select(tree, torch.tensor([2, 2, 0]))  # type: ignore[misc]
    assert isinstance(first, Tensor)
    assert isinstance(second, Tensor)
    assert first.tolist() == [[3], [3], [1]]
    assert second.tolist() == [30, 30, 10]
    assert nothing == ()


def test_repeat_keeps_the_rows_of_one_sentence_together() -> None:
    (repeated,) = repeat((torch.tensor([1, 2]),), 3)
    assert isinstance(repeated, Tensor)
    assert repeated.tolist() == [1, 1, 1, 2, 2, 2]


def test_token_mask_is_true_at_the_tokens() -> None:
    assert token_mask(torch.tensor([2, 0, 3]), 3).tolist() == [[True, True, False], [False] * 3, [True] * 3]
