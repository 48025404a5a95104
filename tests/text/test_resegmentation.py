"""Sampled subwords: a function of the seed in every process, and drawn as the papers say."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter
from random import Random

import pytest

from tongsa.config import SubwordsSection
from tongsa.demo import grammar
from tongsa.text.resegmentation import Resegmenter
from tongsa.text.subwords import Vocabulary, learn


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return [sentence for pair in grammar.write_pairs(300, seed=2) for sentence in pair]


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def vocabulary(request: pytest.FixtureRequest, lines: list[str]) -> Vocabulary:
    return learn(lines, SubwordsSection(size=1100, kind=request.param), 1)


def test_a_process_of_its_own_draws_the_same(vocabulary: Vocabulary, lines: list[str]) -> None:
    """A resumed training must see the cuts that the interrupted one would have seen."""
    program = (
        "import sys, json; from tongsa.text.subwords import Vocabulary; model, ids = json.load(sys.stdin);"
        "print(json.dumps(Vocabulary(bytes.fromhex(model)).resegment(ids, 0.2, 7)))"
    )
    sentences = [vocabulary.encode(line) for line in lines[:20]]
    given = json.dumps([vocabulary.model.hex(), sentences])
    done = subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == vocabulary.resegment(sentences, 0.2, 7)


def test_without_dropout_bpe_cuts_as_sentencepiece_does(lines: list[str]) -> None:
    bpe = learn(lines, SubwordsSection(size=1100), 1)
    sentences = [bpe.encode(line) for line in lines]
    assert bpe.resegment(sentences, 0.0, seed=1) == sentences


def test_other_cuts_are_the_same_text(vocabulary: Vocabulary, lines: list[str]) -> None:
    strange = ["漢字 and 🙂 emoji", "x", "a▁b"]
    sentences = [vocabulary.encode(line) for line in [*lines, *strange]]
    cut = vocabulary.resegment(sentences, 0.3, seed=1)
    assert [vocabulary.decode(ids) for ids in cut] == [vocabulary.decode(ids) for ids in sentences]
    assert sum(map(len, cut)) > sum(map(len, sentences))


def test_more_dropout_gives_smaller_pieces(lines: list[str]) -> None:
    bpe = learn(lines, SubwordsSection(size=1100), 1)
    sentences = [bpe.encode(line) for line in lines[:100]]
    counts = [sum(map(len, bpe.resegment(sentences, amount, seed=1))) for amount in (0.0, 0.1, 0.4, 0.999)]
    assert counts == sorted(counts)
    assert counts[0] < counts[1] < counts[2] < counts[3]


def test_cuts_of_a_unigram_model_are_as_likely_as_it_says() -> None:
    """Three ways to cut `ab c`-like text, drawn in proportion to P^alpha."""
    pieces = {"▁a": (2, -1.5), "b": (3, -2.5), "c": (4, -3.5), "▁ab": (5, -2.25), "bc": (6, -3.75)}
    ways = {(2, 3, 4): -7.5, (5, 4): -5.75, (2, 6): -5.25}
    alpha = 0.5
    total = sum(math.exp(alpha * score) for score in ways.values())
    found = Counter(tuple(Resegmenter(pieces)._draw_path("▁abc", alpha, Random(n)) or ()) for n in range(4000))
    for way, score in ways.items():
        assert found[way] / 4000 == pytest.approx(math.exp(alpha * score) / total, abs=0.03)


def test_a_sentence_is_cut_in_many_ways(vocabulary: Vocabulary, lines: list[str]) -> None:
    sentence = vocabulary.encode(max(lines, key=len))
    assert len({tuple(vocabulary.resegment([sentence], 0.1, seed)[0]) for seed in range(40)}) > 20
