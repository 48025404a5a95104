"""The loss of tokens as the recipe asks for it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tongsa.config import TrainingSection
from tongsa.models.loss import FREQUENT
from tongsa.tasks import contract
from tongsa.tasks.contract import frequent_pieces, token_loss

SAMPLED = TrainingSection(softmax="sampled", precision="float32")


def ids_of(counts: list[int]) -> np.ndarray[tuple[int], np.dtype[np.uint16]]:
    """A text in which piece i occurs counts[i] times."""
    return np.repeat(np.arange(len(counts), dtype=np.uint16), counts)


def test_the_frequent_pieces_are_those_that_occur_most_often() -> None:
    counts = [1] * 78
    counts[3], counts[50], counts[77] = 9, 8, 7
    found = frequent_pieces(SAMPLED, ids_of(counts), 80)
    assert found is not None
    assert len(found) == 80  # also pieces that do not occur
    assert int(found.sum()) == round(FREQUENT * 80)
    assert found[[3, 50, 77]].all()


def test_much_text_is_counted_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "IDS_COUNTED", 100)
    found = frequent_pieces(SAMPLED, ids_of([10, 2000, 10, 10, 10, 10, 10, 10]), 8)
    assert found is not None
    assert found.nonzero().flatten().tolist() == [1]


def test_a_full_softmax_needs_no_frequent_pieces() -> None:
    assert frequent_pieces(TrainingSection(), ids_of([1, 2]), 2) is None


def test_the_loss_is_estimated_if_frequent_pieces_are_given() -> None:
    torch.manual_seed(0)
    features, table, labels = torch.randn(40, 8), torch.randn(1001, 8), torch.randint(0, 50, (40,))
    frequent = torch.arange(1000) < 125
    full, first, second = (
        float(token_loss(SAMPLED, features, table, labels, f).total) for f in (None, frequent, frequent)
    )
    assert first != second, "candidates are drawn anew"
    assert first == pytest.approx(full, rel=0.1)
    assert first != full
