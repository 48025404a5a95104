"""Splitting, sampling, removing duplicates."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from tongsa.base.errors import UsageError
from tongsa.corpus.duplicates import SeenTexts, deduplicated
from tongsa.corpus.split import split
from tongsa.data.selection import reservoir
from tongsa.formats.pairs import Corpus, Pair, Place, Reading, open_corpus

READING = Reading(source="en", target="de")


def corpus(path: Path, texts: list[tuple[str, str]]) -> Corpus:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in texts), encoding="utf-8")
    return open_corpus([path], READING)


def test_no_sentence_stands_in_two_parts(tmp_path: Path) -> None:
    draw = random.Random(1)
    texts = [(f"s{draw.randrange(5000)}", f"t{draw.randrange(5000)}") for _ in range(3000)]
    whole = corpus(tmp_path / "all.tsv", [*texts, *((f"S{n} ", f"x{n}") for n in range(400))])
    counts = split(whole, {"valid": 100, "test": 150}, "train", lambda name: tmp_path / f"{name}.tsv", seed=1)
    parts = {name: list(open_corpus([tmp_path / f"{name}.tsv"], READING)) for name in ("train", "valid", "test")}
    assert {name: len(part) for name, part in parts.items()} == dict(counts)
    assert counts.total() == 3400
    for side in (0, 1):
        sets = [{str(pair[side]).strip().casefold() for pair in part} for part in parts.values()]
        assert sum(map(len, sets)) == len(set().union(*sets))


def test_parts_have_the_sizes_asked_for_and_follow_the_seed(tmp_path: Path) -> None:
    whole = corpus(tmp_path / "all.tsv", [(f"s{n}", f"t{n}") for n in range(1000)])
    drawn = []
    for seed in (1, 1, 2):
        counts = split(whole, {"valid": 50, "test": 70}, "train", lambda name: tmp_path / f"{name}.tsv", seed=seed)
        assert dict(counts) == {"train": 880, "valid": 50, "test": 70}
        drawn.append((tmp_path / "valid.tsv").read_text())
    assert drawn[0] == drawn[1] != drawn[2]


def test_parts_larger_than_the_corpus_are_refused(tmp_path: Path) -> None:
    whole = corpus(tmp_path / "all.tsv", [("a", "b")] * 20)
    with pytest.raises(UsageError, match="the corpus has 20"):
        split(whole, {"valid": 10, "test": 10}, "train", lambda name: tmp_path / name, seed=1)


def test_a_sample_keeps_the_order_and_draws_evenly() -> None:
    pairs = [Pair(str(number), "x", Place(Path("a"), number)) for number in range(100)]
    drawn = [reservoir(pairs, 10, seed) for seed in range(500)]
    assert all(each == sorted(each, key=lambda pair: int(pair.source)) for each in drawn)
    counts = np.bincount([int(pair.source) for each in drawn for pair in each], minlength=100)
    assert counts.min() > 20
    assert counts.max() < 85
    assert reservoir(pairs, 200, 1) == pairs


@pytest.mark.parametrize(("by", "kept"), [("pair", [0, 2, 3]), ("source", [0, 3]), ("target", [0, 2])])
def test_the_first_of_equals_is_kept(by: str, kept: list[int]) -> None:
    texts = [("a", "b"), ("a ", "b"), ("a", "c"), ("d", "c")]
    pairs = [Pair(*both, Place(Path("a"), number)) for number, both in enumerate(texts)]
    assert [pair.where.line for pair, before in deduplicated(pairs, by) if not before] == kept


def test_seen_agrees_with_a_set() -> None:
    draw = np.random.default_rng(1)
    seen, known = SeenTexts(), set()
    for _ in range(60):
        block = draw.integers(0, 20_000, draw.integers(1, 900)).astype(np.uint64)
        expected = []
        for number in block.tolist():
            expected.append(number in known)
            known.add(number)
        assert seen.add(block).tolist() == expected
    assert len(seen) == len(known)
