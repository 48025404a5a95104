"""A recorded beam search is the search itself, with all its candidates."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from tests.decoding.test_beam import search_for

from tongsa.decoding import Search, Special
from tongsa.decoding.recording import LIKELIEST, BeamTree, record_beam
from tongsa.decoding.search import length_penalty

Table = Any
SOURCE = [1, 2, 3]


def record(model: Any, search: Search) -> BeamTree:
    source = torch.tensor([SOURCE])
    special = Special(start=model.vocabulary, end=0)
    return record_beam(model.eval(), source, torch.ones_like(source, dtype=torch.bool), search, special)


@pytest.mark.parametrize("beam", [1, 2, 4, 9])
@pytest.mark.parametrize("seed", range(3))
def test_the_finished_leaves_are_what_the_search_returns(table_model: Table, beam: int, seed: int) -> None:
    model = table_model(7, seed)
    search = Search(beam=beam, max_extra=6)
    tree = record(model, search)
    (found,) = search_for(model, [SOURCE], Search(beam=beam, nbest=beam, max_extra=6), 7)
    assert tree.found == found
    leaves = {tuple(tree.ids(at)): node for at, node in enumerate(tree.nodes) if node.fate == "finished"}
    assert {ids[:-1]: node.log_probability for ids, node in leaves.items()} == {
        tuple(one.ids): one.log_probability for one in found
    }


def test_every_node_has_the_log_probability_of_its_tokens(table_model: Table) -> None:
    model = table_model(7)
    tree = record(model, Search(beam=3, max_extra=4))
    for at, node in enumerate(tree.nodes):
        ids = tree.ids(at)
        assert len(ids) == node.length
        total = sum(
            float(model.logits(tuple(SOURCE), tuple(ids[:i])).log_softmax(-1)[token]) for i, token in enumerate(ids)
        )
        assert node.log_probability == pytest.approx(total, abs=1e-4)
        assert node.parent < at


def test_a_step_keeps_the_beam_and_prunes_the_rest(table_model: Table) -> None:
    tree = record(table_model(20), Search(beam=3, max_extra=5))
    for length in range(1, max(node.length for node in tree.nodes)):
        here = [node for node in tree.nodes if node.length == length]
        kept = [node for node in here if node.fate == "kept"]
        assert len(here) == 6
        assert len(kept) == 3
        pruned = [node.log_probability for node in here if node.fate == "pruned" and node.token]
        assert min(node.log_probability for node in kept) >= max(pruned, default=-math.inf)


def test_the_likeliest_next_tokens_stand_at_each_node_that_went_on(table_model: Table) -> None:
    model = table_model(20)
    tree = record(model, Search(beam=2, max_extra=4))
    last = max(node.length for node in tree.nodes)
    for at, node in enumerate(tree.nodes):
        if node.fate != "kept" or node.length == last:
            assert not node.next
            continue
        wanted = model.logits(tuple(SOURCE), tuple(tree.ids(at))).log_softmax(-1).topk(LIKELIEST)
        assert [each.token for each in node.next] == wanted.indices.tolist()
        assert [each.log_probability for each in node.next] == pytest.approx(wanted.values.tolist(), abs=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 3.0])
def test_another_length_penalty_only_ranks_the_same_hypotheses_anew(table_model: Table, alpha: float) -> None:
    """So a page can rank them itself."""
    model = table_model(7, seed=4)
    tree = record(model, Search(beam=4, max_extra=6, length_penalty=0.6))
    ranked = sorted(tree.found, key=lambda one: -one.log_probability / float(length_penalty(len(one.ids) + 1, alpha)))
    other = record(model, Search(beam=4, max_extra=6, length_penalty=alpha))
    assert [one.ids for one in ranked] == [one.ids for one in other.found]


def test_a_beam_wider_than_the_vocabulary_has_no_impossible_candidates(table_model: Table) -> None:
    tree = record(table_model(3), Search(beam=8, max_extra=2))
    assert all(node.log_probability > -math.inf for node in tree.nodes)
