from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import torch

from tongsa.data.labelled import PictureExamples, TextExamples, hold_out, shifted
from tongsa.data.masking import BertTokens


def test_texts_come_back_padded_behind_their_ends(tmp_path: Path) -> None:
    tokens = BertTokens(8, 9, 10)
    TextExamples.of([1, 0], [[8, 3, 0], [8, 4, 5, 6, 0]], tokens).save(tmp_path / "a")
    batch = TextExamples.open(tmp_path / "a", tokens).batch(np.array([1, 0]))
    assert batch.source.tolist() == [[8, 4, 5, 6, 0], [8, 3, 0, 10, 10]]
    assert batch.mask.sum(dim=1).tolist() == [5, 3]
    assert batch.labels.tolist() == [0, 1]


def test_pictures_come_back_between_minus_one_and_one(tmp_path: Path) -> None:
    pictures = [np.array([[[0, 255]]], dtype=np.uint8), np.array([[[255, 0]]], dtype=np.uint8)]
    PictureExamples.of([0, 1], pictures, 3).save(tmp_path / "a")
    batch = PictureExamples.open(tmp_path / "a", 3).batch(np.array([1]))
    assert batch.source.tolist() == [[[[1.0, -1.0]]]]
    assert batch.mask.shape == (1, 3)


def test_a_moved_picture_holds_a_part_of_the_picture_and_its_border() -> None:
    picture = torch.zeros(200, 1, 5, 5)
    picture[:, :, 2, 2] = 1.0
    found = shifted(picture, 1, torch.Generator().manual_seed(1))
    assert found.shape == picture.shape
    assert found.sum(dim=(1, 2, 3)).tolist() == [1.0] * 200, "the point stays inside"
    places = Counter(map(tuple, found.nonzero()[:, 2:].tolist()))
    assert set(places) == {(row, column) for row in (1, 2, 3) for column in (1, 2, 3)}


def test_some_of_every_label_are_held_out() -> None:
    labels = ["a"] * 50 + ["b"] * 3 + ["c"]
    held = hold_out(labels, seed=1)
    assert Counter(labels[i] for i in held) == {"a": 5, "b": 1}, "the only one of a label is learnt from"
    assert held == hold_out(labels, seed=1) != hold_out(labels, seed=2)
