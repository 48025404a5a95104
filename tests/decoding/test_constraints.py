"""Constraints on the next token: given prefixes, and a mask of one's own."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from decoding.conftest import TableModel
from tongsa.decoding.search import Sampling, Search, Special
from tongsa.decoding.searching import decode

SPECIAL = Special(start=7, end=0)
SOURCES = torch.tensor([[1, 2, 3], [4, 5, 6], [2, 2, 1]])
MASK = torch.ones_like(SOURCES, dtype=torch.bool)
SEARCHES = [Search(beam=1), Search(beam=3), Search(beam=3, nbest=2), Search(nbest=3, sampling=Sampling())]
PREFIXES = [[3, 4], [], [5, 1, 2, 6]]


@pytest.mark.parametrize("search", SEARCHES, ids=str)
def test_all_hypotheses_begin_with_the_prefix_of_their_sentence(search: Search) -> None:
    found = decode(TableModel(7), SOURCES, MASK, search, SPECIAL, prefixes=PREFIXES)
    for group, prefix in zip(found, PREFIXES, strict=True):
        assert len(group) == search.nbest
        assert all(one.ids[: len(prefix)] == prefix for one in group)


@pytest.mark.parametrize("search", SEARCHES, ids=str)
def test_the_probability_of_a_hypothesis_includes_its_prefix(search: Search) -> None:
    model = TableModel(7)
    found = decode(model, SOURCES, MASK, search, SPECIAL, prefixes=PREFIXES)
    for source, group in zip(SOURCES.tolist(), found, strict=True):
        for one in group:
            written = [*one.ids, 0]
            tables = [model.logits(tuple(source), tuple(written[:at])).log_softmax(-1) for at in range(len(written))]
            expected = sum(float(table[token]) for table, token in zip(tables, written, strict=True))
            assert one.log_probability == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("search", SEARCHES[:3], ids=str)
def test_the_beginning_of_the_best_hypothesis_leads_to_one_as_good(search: Search) -> None:
    model = TableModel(7, sharpness=6.0)
    free = decode(model, SOURCES, MASK, search, SPECIAL)
    begun = decode(model, SOURCES, MASK, search, SPECIAL, prefixes=[group[0].ids[:2] for group in free])
    assert all(one[0].score >= other[0].score - 1e-4 for one, other in zip(begun, free, strict=True))
    assert search.beam > 1 or [group[0].ids for group in begun] == [group[0].ids for group in free]


def test_a_prefix_beyond_the_length_limit_is_written_whole() -> None:
    search = Search(beam=2, max_extra=1, max_ratio=0.0)
    ((best,), *_) = decode(TableModel(7), SOURCES[:1], MASK[:1], search, SPECIAL, prefixes=[[1, 2, 3, 4, 5, 6]])
    assert best.ids[:6] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("search", SEARCHES, ids=str)
def test_a_mask_over_the_next_tokens_is_obeyed_in_every_row(search: Search) -> None:
    def rising(log_p: Tensor, rows: Sequence[int], written: Tensor) -> Tensor:
        """A token is larger than the one before it; sentence 1 may not write 3."""
        last = written[:, -1:] if written.shape[1] else torch.zeros(len(rows), 1)
        tokens = torch.arange(log_p.shape[1])
        third = torch.tensor(rows)[:, None] == 1
        return log_p.masked_fill((tokens != 0) & ((tokens <= last) | (third & (tokens == 3))), -math.inf)

    found = decode(TableModel(7), SOURCES, MASK, search, SPECIAL, constraint=rising)
    for index, group in enumerate(found):
        for one in group:
            assert one.ids == sorted(set(one.ids))
            assert index != 1 or 3 not in one.ids
