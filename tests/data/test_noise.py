"""Noise while training: a function of the seed, within the limits, and the pairs stay pairs."""

from __future__ import annotations

import numpy as np
import torch

from small_translators import sentences, small_subwords
from tongsa.data.batches import assemble
from tongsa.data.ids import PairIds, Sentences
from tongsa.data.noise import KINDS, Noise

SUBWORDS = small_subwords()
PAIRS = sentences(12)
SOURCE = [SUBWORDS.source.encode(source) for source, _ in PAIRS]
TARGET = [SUBWORDS.target.encode(target) for _, target in PAIRS]


def texts(ids: list[list[int]]) -> list[str]:
    return SUBWORDS.source.decode_many(ids)


def test_the_seed_decides_and_several_kinds_occur() -> None:
    noise = Noise(0.999, 200)
    seen = set()
    for seed in range(40):
        once, again = (noise(SOURCE, TARGET, SUBWORDS, seed) for _ in range(2))
        assert once == again
        seen.add(str(once))
    assert len(seen) >= len(KINDS)


def test_a_share_of_the_chunks_is_changed() -> None:
    changed = [Noise(0.25, 200)(SOURCE, TARGET, SUBWORDS, seed) != (SOURCE, TARGET) for seed in range(200)]
    assert 25 < sum(changed) < 80


def test_nothing_becomes_longer_than_the_longest() -> None:
    longest = max(map(len, SOURCE + TARGET))
    for seed in range(60):
        source, target = Noise(0.999, longest)(SOURCE, TARGET, SUBWORDS, seed)
        assert max(map(len, source + target)) <= longest
        assert all(source)
        assert all(target)
        assert len(source) == len(target)


def test_without_its_full_stop_a_source_has_a_translation_without_one() -> None:
    for seed in range(200):
        source, target = Noise(0.999, 200)(SOURCE, TARGET, SUBWORDS, seed)
        if texts(source)[0] == PAIRS[0][0].rstrip(".?"):
            assert texts(target)[0] == PAIRS[0][1].rstrip(".?!")
            return
    raise AssertionError("no chunk lost its full stops")


def test_without_noise_a_chunk_is_as_before() -> None:
    def side(rows: list[list[int]]) -> Sentences:
        offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in rows])]).astype(np.int64)
        return Sentences(np.concatenate([np.array(ids, np.uint16) for ids in rows]), offsets)

    pairs, rows = PairIds(side(SOURCE), side(TARGET)), np.arange(len(SOURCE))
    plain = assemble(pairs, rows, SUBWORDS, sampling=0.1, seed=3)
    unused = assemble(pairs, rows, SUBWORDS, sampling=0.1, seed=3, noise=Noise(1e-9, 200))
    noisy = assemble(pairs, rows, SUBWORDS, sampling=0.1, seed=3, noise=Noise(0.999, 200))
    assert all(torch.equal(left, right) for left, right in zip(plain, unused, strict=True))
    assert not torch.equal(plain.source, noisy.source)
