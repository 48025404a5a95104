"""Sampling draws what it should, and the same for the same seed."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tongsa.decoding import Hypothesis, Search, Special, decode
from tongsa.decoding.sampling import keep_top_k, keep_top_p
from tongsa.decoding.search import Sampling

Table = Any

SPECIAL = Special(start=6, end=0)


def draw(model: Table, sampling: Sampling, draws: int = 1, rows: int = 1) -> list[list[Hypothesis]]:
    source = torch.tensor([[1, 2]] * rows)
    return decode(model, source, source != 6, Search(nbest=draws, max_extra=2, sampling=sampling), SPECIAL)


@settings(deadline=None)
@given(scores=st.lists(st.integers(-20, 20), min_size=1, max_size=10, unique=True), k=st.integers(1, 12))
def test_top_k_keeps_the_k_highest(scores: list[int], k: int) -> None:
    kept = keep_top_k(torch.tensor([scores], dtype=torch.float32), k)[0]
    expected = set(sorted(scores, reverse=True)[:k])
    assert {score for score, left in zip(scores, kept.tolist(), strict=True) if left > -math.inf} == expected


def test_top_k_of_0_keeps_all() -> None:
    scores = torch.randn(2, 5)
    assert torch.equal(keep_top_k(scores, 0), scores)


@settings(deadline=None)
@given(weights=st.lists(st.integers(1, 1000), min_size=1, max_size=10, unique=True), p=st.floats(0.01, 0.99))
def test_top_p_keeps_the_fewest_that_reach_p(weights: list[int], p: float) -> None:
    share = torch.tensor(weights, dtype=torch.float64) / sum(weights)
    kept = keep_top_p(share.log()[None], p)[0] > -math.inf
    inside = share[kept]
    assert float(inside.sum()) >= p - 1e-9
    assert float(inside.sum() - inside.min()) < p + 1e-9, "one fewer would not do"
    assert float(inside.min()) >= float(share[~kept].max()) if bool((~kept).any()) else True


def test_top_p_of_1_keeps_all() -> None:
    scores = torch.randn(2, 5)
    assert torch.equal(keep_top_p(scores, 1.0), scores)


def test_the_likeliest_token_always_stays() -> None:
    scores = torch.tensor([[0.0, 9.0, 1.0]])
    assert keep_top_p(scores, 1e-6)[0].argmax() == 1
    assert int((keep_top_p(scores, 1e-6) > -math.inf).sum()) == 1


def test_the_same_seed_draws_the_same(table_model: Table) -> None:
    model = table_model(6, sharpness=0.5)
    first, again, other = (draw(model, Sampling(seed=seed), draws=20) for seed in (4, 4, 5))
    assert first == again
    assert first != other


@pytest.mark.parametrize("temperature", [0.01, 1e-6, 1e-42])
def test_a_temperature_near_0_is_greedy(table_model: Table, temperature: float) -> None:
    model = table_model(6, 3)
    source = torch.tensor([[1, 2]])
    ((greedy,),) = decode(model, source, source != 6, Search(beam=1, max_extra=2), SPECIAL)
    (samples,) = draw(model, Sampling(temperature=temperature), draws=10)
    assert {tuple(h.ids) for h in samples} == {tuple(greedy.ids)}


def test_top_k_of_1_is_greedy(table_model: Table) -> None:
    model = table_model(6, 3)
    source = torch.tensor([[1, 2]])
    ((greedy,),) = decode(model, source, source != 6, Search(beam=1, max_extra=2), SPECIAL)
    (samples,) = draw(model, Sampling(top_k=1), draws=10)
    assert {tuple(h.ids) for h in samples} == {tuple(greedy.ids)}


def test_tokens_are_drawn_as_often_as_they_are_likely(table_model: Table) -> None:
    model = table_model(6, 3, 0.7)
    (samples,) = draw(model, Sampling(), draws=3000)
    first = Counter((h.ids or [0])[0] for h in samples)
    expected = model.logits((1, 2), ()).softmax(-1)
    for token in range(6):
        assert first[token] / 3000 == pytest.approx(float(expected[token]), abs=0.035)


def test_samples_are_scored_by_the_model_as_it_stands(table_model: Table) -> None:
    """Temperature and cuts change what is drawn, not what it is worth; the likeliest comes first."""
    model = table_model(6, 3, 0.7)
    (samples,) = draw(model, Sampling(temperature=2.0, top_k=4), draws=5)
    for h in samples:
        steps = enumerate([*h.ids, 0])
        total = sum(float(model.logits((1, 2), tuple(h.ids[:i])).log_softmax(-1)[token]) for i, token in steps)
        assert h.log_probability == pytest.approx(total, abs=1e-4)
        assert h.score == h.log_probability
    assert [h.score for h in samples] == sorted((h.score for h in samples), reverse=True)


def test_sentences_of_a_batch_are_drawn_independently(table_model: Table) -> None:
    found = draw(table_model(6, 3, 0.3), Sampling(), rows=12)
    assert len({tuple(h.ids) for (h,) in found}) > 3
