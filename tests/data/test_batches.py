"""Batches: everything once an epoch, in budget, hardly padded, and a pure function of seed and epoch."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tongsa.data.batches import PairOrder, Position, assemble
from tongsa.data.ids import PairIds, Sentences
from tongsa.text.subwords import END, Subwords

Lengths = NDArray[np.int32]


def sentences(lengths: Lengths, seed: int = 0) -> Sentences:
    """Ids from 2 on: 0 is the end, 1 unknown."""
    ids = np.random.default_rng(seed).integers(2, 90, int(lengths.sum()), dtype=np.uint16)
    return Sentences(ids, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def plan(source: Lengths, target: Lengths, *, batch: int = 1000, chunk: int = 250, seed: int = 1) -> PairOrder:
    pairs = PairIds(sentences(source), sentences(target))
    return PairOrder.of(pairs, batch_tokens=batch, chunk_tokens=chunk, seed=seed)


def realistic(pairs: int, seed: int = 0) -> tuple[Lengths, Lengths]:
    """Lengths as in news and captions: log-normal, the sides correlated but far from equal."""
    draw = np.random.default_rng(seed)
    target = np.clip(draw.lognormal(3.0, 0.6, pairs), 1, 250).astype(np.int32)
    source = np.clip(target * draw.lognormal(0.0, 0.25, pairs), 1, 250).astype(np.int32)
    return source, target


plans = st.builds(
    lambda lengths, batch, chunk, seed: plan(*np.array(lengths, np.int32).T, batch=batch, chunk=chunk, seed=seed),
    st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=80),
    st.integers(1, 400),
    st.integers(1, 120),
    st.integers(0, 2**31),
)


@given(plans, st.integers(0, 5))
def test_every_pair_comes_exactly_once_an_epoch(plan: PairOrder, epoch: int) -> None:
    rows = np.concatenate([rows for update in plan.epoch(epoch) for rows in update])
    assert sorted(rows) == list(range(len(plan.target_lengths)))


@given(plans, st.integers(0, 5))
def test_a_chunk_keeps_its_budget_unless_one_pair_alone_is_larger(plan: PairOrder, epoch: int) -> None:
    for rows in (rows for update in plan.epoch(epoch) for rows in update):
        if len(rows) > 1:
            assert plan.target_lengths[rows].max() * len(rows) <= 2 * plan.chunk_tokens
            assert plan.source_lengths[rows].max() * len(rows) <= 2 * plan.chunk_tokens


def test_chunks_cost_the_same_and_hold_chunk_tokens_on_average() -> None:
    """Workers with one chunk each wait for the slowest."""
    drawn = plan(*realistic(20_000), batch=4096, chunk=2048)
    chunks = [rows for update in drawn.epoch(0) for rows in update]
    costs = np.array([(drawn.source_lengths[rows] + 2 * drawn.target_lengths[rows]).sum() for rows in chunks])
    assert np.percentile(costs, 5) > 0.95 * costs.max(), "only the rest, or what memory bounds, is smaller"
    assert np.mean([drawn.target_lengths[rows].sum() for rows in chunks]) == pytest.approx(2048, rel=0.05)


@given(plans)
def test_order_is_a_pure_function_of_seed_and_epoch(plan: PairOrder) -> None:
    def flat(epoch: int) -> list[list[list[int]]]:
        return [[rows.tolist() for rows in update] for update in plan.epoch(epoch)]

    assert flat(3) == flat(3)
    forwards = flat(2), flat(3)
    assert (flat(3), flat(2)) == forwards[::-1]


def test_epochs_and_seeds_differ() -> None:
    lengths = realistic(500)
    orders = {
        tuple(np.concatenate([rows for update in plan(*lengths, seed=seed).epoch(epoch) for rows in update]))
        for seed in (1, 2)
        for epoch in (0, 1)
    }
    assert len(orders) == 4


@given(plans, st.integers(0, 40))
@settings(max_examples=50)
def test_going_on_at_any_position_gives_the_rest_of_the_same_stream(plan: PairOrder, at: int) -> None:
    whole = list(islice(plan.updates(Position()), at + 12))
    start = whole[at - 1][0] if at else Position()
    for (position, update), (expected_position, expected) in zip(plan.updates(start), whole[at:], strict=False):
        assert position == expected_position
        assert [rows.tolist() for rows in update] == [rows.tolist() for rows in expected]


@pytest.mark.parametrize("chunk", [512, 1024, 4096])
def test_padding_stays_under_a_tenth_on_realistic_lengths(chunk: int) -> None:
    """Both sides counted, as they go through the model; small corpora pad more, since fewer sentences are alike."""
    drawn = plan(*realistic(20_000), batch=4096, chunk=chunk)
    real = padded = 0
    for rows in (rows for update in drawn.epoch(0) for rows in update):
        for lengths in (drawn.source_lengths[rows], drawn.target_lengths[rows]):
            real += int(lengths.sum())
            padded += int(lengths.max()) * len(rows)
    assert 1 - real / padded < 0.10


def test_padding_stays_under_a_tenth_on_multi30k(shared_data: Path) -> None:
    lines = [
        (shared_data / "multi30k" / f"train.{side}").read_text(encoding="utf-8").split("\n") for side in ("en", "de")
    ]
    drawn = plan(*(np.array([len(line) // 4 + 1 for line in side], np.int32) for side in lines), batch=4096, chunk=1024)
    chunks = [rows for update in drawn.epoch(0) for rows in update]
    real = sum(int(drawn.source_lengths[rows].sum() + drawn.target_lengths[rows].sum()) for rows in chunks)
    padded = sum(
        int(drawn.source_lengths[rows].max() + drawn.target_lengths[rows].max()) * len(rows) for rows in chunks
    )
    assert 1 - real / padded < 0.10


@pytest.mark.parametrize(("batch", "chunk"), [(4096, 1024), (4096, 4096), (3000, 1024), (25_000, 1024)])
def test_updates_hold_their_target_tokens_on_average(batch: int, chunk: int) -> None:
    drawn = plan(*realistic(20_000), batch=batch, chunk=chunk)
    tokens = [sum(int(drawn.target_lengths[rows].sum()) for rows in update) for update in drawn.epoch(0)]
    assert np.mean(tokens) == pytest.approx(batch, rel=0.05)
    assert max(tokens) <= batch + 1.5 * chunk
    assert min(tokens) >= batch / 2 - chunk


def test_lengths_are_mixed_over_an_epoch() -> None:
    """Sorted by length within chunks, but not from the first update to the last."""
    drawn = plan(*realistic(20_000), batch=1024, chunk=1024)
    means = [drawn.target_lengths[update[0]].mean() for update in drawn.epoch(0)]
    place = np.arange(len(means))
    assert abs(np.corrcoef(place, means)[0, 1]) < 0.2


class FakeVocabulary:
    pad = 99


def assembled(lengths: list[tuple[int, int]]) -> tuple[PairIds, tuple[torch.Tensor, ...]]:
    source, target = np.array(lengths, np.int32).T
    pairs = PairIds(sentences(source, 1), sentences(target, 2))
    subwords = Subwords(FakeVocabulary(), FakeVocabulary())  # type: ignore[arg-type]
    return pairs, assemble(pairs, np.arange(len(lengths)), subwords, sampling=0.0, seed=0)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8))
def test_tensors_hold_the_pairs_and_nothing_else(lengths: list[tuple[int, int]]) -> None:
    pairs, batch = assembled(lengths)
    source, mask, target, labels = batch
    assert source.shape == mask.shape == (len(lengths), max(a for a, _ in lengths) + 1)
    assert target.shape == labels.shape == (len(lengths), max(b for _, b in lengths) + 1)
    for row in range(len(lengths)):
        read, written = pairs.source[row].tolist(), pairs.target[row].tolist()
        assert source[row][mask[row]].tolist() == [*read, END]
        assert source[row][~mask[row]].tolist() == [99] * int((~mask[row]).sum())
        rest = [99] * (target.shape[1] - len(written) - 1)
        assert target[row].tolist() == [99, *written, *rest]
        assert labels[row].tolist() == [*written, END, *rest]
