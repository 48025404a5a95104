"""Beam search against brute force, and its named parts alone."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from tongsa.config import TransformerSection
from tongsa.decoding import Hypothesis, Search, Special, decode
from tongsa.decoding.beam import Candidates, collect, extend, going_on, starting_scores
from tongsa.models.contracts import Seq2Seq, token_mask
from tongsa.models.transformer import Transformer

Table = Any
"""The class TableModel of conftest.py."""

some = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def search_for(model: Seq2Seq, sources: list[list[int]], search: Search, pad: int) -> list[list[Hypothesis]]:
    width = max(map(len, sources))
    source = torch.tensor([ids + [pad] * (width - len(ids)) for ids in sources])
    mask = token_mask(torch.tensor([len(ids) for ids in sources]), width)
    return decode(model.eval(), source, mask, search, Special(start=pad, end=0))


def brute_force(model: Table, source: tuple[int, ...], limit: int, alpha: float) -> list[tuple[float, list[int]]]:
    """Every sequence of at most `limit` tokens, the end included, by its score; the last token is the end."""
    scored = []
    for length in range(limit):
        for ids in itertools.product(range(1, model.vocabulary), repeat=length):
            total = sum(
                float(model.logits(source, ids[:i]).log_softmax(-1)[token]) for i, token in enumerate([*ids, 0])
            )
            scored.append((total / ((5 + length + 1) / 6) ** alpha, list(ids)))
    return sorted(scored, reverse=True)


def never_ending(table_model: Table) -> Table:
    """A model that only a limit can stop."""

    class NeverEnding(table_model):  # type: ignore[misc]
        def logits(self, source: tuple[int, ...], prefix: tuple[int, ...]) -> Tensor:
            logits: Tensor = super().logits(source, prefix)
            logits[0] = -50.0
            return logits

    return NeverEnding(6)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_full_beam_equals_brute_force(table_model: Table, alpha: float, seed: int) -> None:
    model = table_model(4, seed)
    everything = brute_force(model, (1, 2), 4, alpha)
    assert len(everything) == 1 + 3 + 9 + 27
    search = Search(beam=60, nbest=len(everything), length_penalty=alpha, max_extra=1, max_ratio=1.0)
    (found,) = search_for(model, [[1, 2]], search, 4)
    assert [h.ids for h in found] == [ids for _, ids in everything]
    assert [h.score for h in found] == pytest.approx([score for score, _ in everything], abs=1e-5)


def test_a_full_beam_equals_brute_force_with_a_transformer() -> None:
    """The same through a real cache: the best of all 40 outputs, each scored by teacher forcing."""
    torch.manual_seed(5)
    config = TransformerSection(encoder_layers=1, decoder_layers=2, d_model=8, d_ff=8, heads=2, dropout=0.0)
    model = Transformer(config, 5).eval()
    with torch.no_grad():
        model.source_embedding.weight *= 6  # sharper than a fresh model is
        model.source_embedding.weight[-1] = 0
    source, mask = torch.tensor([[1, 3, 0]]), token_mask(torch.tensor([3]), 3)
    scored = []
    for length in range(4):
        for ids in itertools.product((1, 2, 3), repeat=length):
            log_p = model(source, mask, torch.tensor([[4, *ids]]))[0].log_softmax(-1)
            total = sum(float(log_p[i, token].detach()) for i, token in enumerate([*ids, 0]))
            scored.append((total / ((6 + length) / 6) ** 0.6, list(ids)))
    search = Search(beam=60, nbest=40, length_penalty=0.6, max_extra=0, max_ratio=1.0)
    (found,) = search_for(model, [[1, 3, 0]], search, 4)
    expected = [score for score, _ in sorted(scored, reverse=True)]
    assert [h.score for h in found] == pytest.approx(expected, rel=1e-6, abs=1e-5)
    assert found[0].ids == max(scored)[1]


@some
@given(
    seed=st.integers(0, 1000),
    sources=st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=4), min_size=1, max_size=5),
)
def test_beam_1_equals_greedy(table_model: Table, seed: int, sources: list[list[int]]) -> None:
    """With nbest 1 a beam of 1 takes the greedy path; asked of the beam itself, it finds the same."""
    from tongsa.decoding.beam import beam_search
    from tongsa.decoding.greedy import greedy

    model = table_model(6, seed)
    width = max(map(len, sources))
    source = torch.tensor([ids + [6] * (width - len(ids)) for ids in sources])
    memory = model.encode(source, source != 6)
    limits = torch.tensor([len(ids) + 4 for ids in sources])
    special = Special(start=6, end=0)
    by_beam = beam_search(model, memory, limits, Search(beam=1), special)
    by_greed = greedy(model, memory, limits, 0.6, special)
    for (left,), (right,) in zip(by_beam, by_greed, strict=True):
        assert (left.ids, left.ended) == (right.ids, right.ended)
        assert left.score == pytest.approx(right.score, abs=1e-5)


@some
@given(
    seed=st.integers(0, 1000),
    beam=st.integers(2, 5),
    sources=st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=4), min_size=2, max_size=5),
)
def test_batched_search_equals_one_by_one(table_model: Table, seed: int, beam: int, sources: list[list[int]]) -> None:
    """Sentences end at different steps here: those that leave the batch take nothing with them."""
    model = table_model(6, seed)
    search = Search(beam=beam, nbest=2, max_extra=3)
    together = search_for(model, sources, search, 6)
    for source, found in zip(sources, together, strict=True):
        (alone,) = search_for(model, [source], search, 6)
        assert [h.ids for h in found] == [h.ids for h in alone]
        assert [h.score for h in found] == pytest.approx([h.score for h in alone], abs=1e-5)


def test_finished_sentences_leave_the_batch(table_model: Table) -> None:
    model = never_ending(table_model)
    search_for(model, [[1], [1, 2, 3, 4, 5, 5]], Search(beam=2, max_extra=0), 6)
    assert model.largest_batch[0] == 4
    assert model.largest_batch[-1] == 2


@some
@given(seed=st.integers(0, 1000), nbest=st.integers(1, 6), beam=st.integers(1, 4))
def test_n_best_are_distinct_sorted_and_as_many_as_asked_for(
    table_model: Table, seed: int, nbest: int, beam: int
) -> None:
    (found,) = search_for(table_model(6, seed), [[2, 3]], Search(beam=beam, nbest=nbest, max_extra=4), 6)
    assert len(found) == nbest
    assert len({tuple(h.ids) for h in found}) == nbest
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)


@some
@given(seed=st.integers(0, 1000), beam=st.integers(1, 4))
def test_scores_are_those_of_the_model(table_model: Table, seed: int, beam: int) -> None:
    model = table_model(6, seed)
    (found,) = search_for(model, [[2, 3]], Search(beam=beam, nbest=2, length_penalty=0.6, max_extra=4), 6)
    for h in found:
        steps = enumerate([*h.ids, 0])
        total = sum(float(model.logits((2, 3), tuple(h.ids[:i])).log_softmax(-1)[token]) for i, token in steps)
        assert h.log_probability == pytest.approx(total, abs=1e-4)
        assert h.score == pytest.approx(total / ((6 + len(h.ids)) / 6) ** 0.6, abs=1e-4)


@pytest.mark.parametrize("beam", [1, 3])
def test_the_limit_of_length_forces_the_end_and_marks_it(table_model: Table, beam: int) -> None:
    model = never_ending(table_model)
    short, long = search_for(model, [[1], [1, 2, 3]], Search(beam=beam, max_extra=2, max_ratio=1.0), 6)
    assert [len(short[0].ids), len(long[0].ids)] == [3, 5]
    assert not short[0].ended
    assert not long[0].ended


def test_a_hypothesis_that_ends_by_itself_is_not_marked(table_model: Table) -> None:
    (found,) = search_for(table_model(6, 1), [[1, 2]], Search(beam=3, max_extra=30), 6)
    assert found[0].ended


@pytest.mark.parametrize("beam", [3, 4, 9])
def test_a_vocabulary_smaller_than_the_beam_is_searched_whole(table_model: Table, beam: int) -> None:
    model = table_model(2, 1)  # the end, and one token
    (found,) = search_for(model, [[1]], Search(beam=beam, nbest=2, max_extra=1, length_penalty=0.0), 2)
    assert [(h.score, h.ids) for h in found] == [
        (pytest.approx(score, abs=1e-5), ids) for score, ids in brute_force(model, (1,), 3, 0.0)[:2]
    ]


# The parts


def test_search_starts_from_one_certain_hypothesis() -> None:
    assert starting_scores(2, 3, torch.device("cpu")).tolist() == [[0, -math.inf, -math.inf]] * 2


def test_extend_finds_the_best_pairs_of_hypothesis_and_token() -> None:
    log_p = torch.tensor([[-1.0, -2.0]])
    following = torch.tensor([[0.1, 0.2, 0.7], [0.05, 0.9, 0.05]]).log()
    best = extend(log_p, following, torch.tensor([False]), end=0)
    totals = {(h, t): float(log_p[0, h] + following[h, t]) for h in range(2) for t in range(3)}
    expected = sorted(totals, key=lambda pair: -totals[pair])[:4]
    assert list(zip(best.parent[0].tolist(), best.token[0].tolist(), strict=True)) == expected
    assert best.log_p[0].tolist() == pytest.approx([totals[pair] for pair in expected])


def test_extend_lets_only_the_end_follow_at_the_limit() -> None:
    log_p = torch.tensor([[-1.0, -2.0], [-1.0, -2.0]])
    best = extend(log_p, torch.randn(4, 5), torch.tensor([True, False]), end=0)
    possible = best.log_p[0] > -math.inf
    assert best.token[0][possible].tolist() == [0, 0]
    assert (best.log_p[1] > -math.inf).all()


def test_extend_does_not_extend_what_is_not_there() -> None:
    best = extend(starting_scores(1, 3, torch.device("cpu")), torch.randn(3, 4), torch.tensor([False]), end=0)
    assert best.parent[0][best.log_p[0] > -math.inf].tolist() == [0, 0, 0, 0]


def candidates(log_p: list[float], parent: list[int], token: list[int]) -> Candidates:
    return Candidates(torch.tensor([log_p]), torch.tensor([parent]), torch.tensor([token]))


def test_collect_sets_aside_those_among_the_first_of_the_beam_that_end() -> None:
    best = candidates([-1.0, -2.0, -3.0, -4.0], [1, 0, 0, 1], [0, 7, 0, 9])
    finished: list[list[Hypothesis]] = [[], []]
    collect(best, torch.tensor([[[5, 5], [6, 6]]]), [1], finished, torch.tensor([False]), 3, 1.0, 0)
    assert finished[0] == []
    (only,) = finished[1]  # the third ends too, but it is not among the first two
    assert only.ids == [6, 6]
    assert only.log_probability == pytest.approx(-1.0)
    assert only.score == pytest.approx(-1.0 / (8 / 6))
    assert only.ended


def test_collect_takes_no_more_than_the_beam_and_nothing_impossible() -> None:
    full = [Hypothesis([1], -1.0, -1.0)] * 2
    best = candidates([-1.0, -math.inf], [0, 1], [0, 0])
    written = torch.tensor([[[5], [6]]])
    finished = [list(full), []]
    collect(best, written, [0], finished, torch.tensor([True]), 2, 0.0, 0)
    collect(best, written, [1], finished, torch.tensor([True]), 2, 0.0, 0)
    assert finished[0] == full
    assert [h.ids for h in finished[1]] == [[5]]
    assert not finished[1][0].ended


def test_going_on_keeps_the_best_that_do_not_end_in_order() -> None:
    kept = going_on(candidates([-1.0, -2.0, -3.0, -4.0], [1, 0, 0, 1], [0, 7, 8, 9]), 2, 0)
    assert kept.token.tolist() == [[7, 8]]
    assert kept.parent.tolist() == [[0, 0]]
    assert kept.log_p.tolist() == [[-2.0, -3.0]]


def test_going_on_fills_up_with_hypotheses_that_cannot_win() -> None:
    kept = going_on(candidates([-1.0, -2.0], [0, 0], [3, 0]), 3, 0)
    assert kept.log_p.tolist() == [[-1.0, -math.inf, -math.inf]]
