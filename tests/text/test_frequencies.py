"""Frequencies of pieces: a byte each, and how familiar a text is by them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tongsa.text import frequencies as module
from tongsa.text.frequencies import PieceFrequencies

IDS = np.array([2] * 700 + [3] * 250 + [4] * 50, dtype=np.uint16)


def test_familiarity_is_the_mean_log_frequency_less_that_of_the_training_text() -> None:
    counted = PieceFrequencies.count(IDS, 6)
    shares = {2: 0.7, 3: 0.25, 4: 0.05}
    usual = sum(share * math.log(share) for share in shares.values())
    for ids in ([2], [3, 4], [2, 2, 4]):
        expected = sum(math.log(shares[id]) for id in ids) / len(ids) - usual
        assert counted.familiarity(ids) == pytest.approx(expected, abs=0.08)
    assert counted.familiarity(IDS.tolist()) == pytest.approx(0.0, abs=0.05)
    assert counted.familiarity([]) == 0.0


def test_pieces_that_never_occur_are_the_least_familiar() -> None:
    counted = PieceFrequencies.count(IDS, 6)
    assert counted.familiarity([5]) < counted.familiarity([4]) - 3
    assert counted.familiarity([5]) == counted.familiarity([0])


def test_a_byte_for_each_piece_is_all_that_is_kept() -> None:
    counted = PieceFrequencies.count(IDS, 6)
    assert len(counted) == len(counted.content) == 6
    assert PieceFrequencies(counted.content).familiarity([3]) == counted.familiarity([3])


def test_counting_block_by_block_is_counting_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = PieceFrequencies.count(IDS, 6).content
    monkeypatch.setattr(module, "BLOCK", 7)
    assert PieceFrequencies.count(IDS, 6).content == whole


def test_after_fine_tuning_the_pieces_of_the_old_text_stay_familiar() -> None:
    old, new = PieceFrequencies.count(np.array([2] * 100), 4), PieceFrequencies.count(np.array([3] * 100), 4)
    joined = new.joined(old)
    assert joined.familiarity([2]) == joined.familiarity([3]) > joined.familiarity([0])
