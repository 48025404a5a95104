"""Ensembles: the mean of the members' probabilities, with every search and engine function."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor

from small_translators import SMALL, random_model, small_subwords
from tongsa.decoding import Search
from tongsa.decoding.search import Sampling, length_penalty
from tongsa.engines.native import NativeEngine
from tongsa.models import Seq2Seq, build
from tongsa.models.ensemble import Ensemble
from tongsa.models.recurrent import RecurrentSection
from tongsa.text.subwords import END

PAD = 5


def engine(*members: Seq2Seq, pad: int = PAD) -> NativeEngine:
    model = members[0] if len(members) == 1 else Ensemble(members)
    return NativeEngine(model, source_pad=pad, target_pad=pad, end=END)


def tiny(seed: int) -> Seq2Seq:
    """A Transformer over five tokens, sharp enough for its members to disagree."""
    torch.manual_seed(seed)
    model = build(SMALL, PAD + 1, None)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= 2
    return model.eval()


def recurrent(seed: int) -> Seq2Seq:
    torch.manual_seed(seed)
    return build(RecurrentSection(d_model=16), PAD + 1, None).eval()


SOURCES = [[2, 3, 4, 2], [4], [3, 3, 2]]


@pytest.mark.parametrize(
    "search",
    [
        Search(beam=1, max_extra=6),
        Search(beam=4, nbest=3, max_extra=6),
        Search(sampling=Sampling(seed=3), nbest=2, max_extra=6),
    ],
    ids=["greedy", "beam", "sampling"],
)
def test_a_model_twice_writes_what_it_writes_alone_with_the_same_scores(search: Search) -> None:
    model = tiny(1)
    alone, twice = engine(model).translate(SOURCES, search), engine(model, model).translate(SOURCES, search)
    for left, right in zip(alone, twice, strict=True):
        assert [each.ids for each in left] == [each.ids for each in right]
        assert [each.score for each in left] == pytest.approx([each.score for each in right], abs=1e-5)


def probabilities(model: Seq2Seq, source: list[int], written: tuple[int, ...]) -> Tensor:
    """The model's probabilities of the next token, all of the sentence computed again."""
    tokens = torch.tensor([[*source, END]])
    with torch.no_grad():
        logits = model(tokens, torch.ones_like(tokens, dtype=torch.bool), torch.tensor([[PAD, *written]]))
    return torch.softmax(logits[0, -1], dim=-1)


def test_a_full_beam_finds_the_best_under_the_mean_of_the_probabilities() -> None:
    members = [tiny(1), recurrent(2), tiny(3)]
    source = [2, 4]
    search = Search(beam=400, max_ratio=0, max_extra=2, length_penalty=0.6)  # at most two tokens and the end
    best = []
    for length in range(3):
        for ids in itertools.product(range(1, PAD), repeat=length):
            total = 0.0
            for step, token in enumerate((*ids, END)):
                mean = torch.stack([probabilities(model, source, ids[:step]) for model in members]).mean(dim=0)
                total += math.log(float(mean[token]))
            best.append((total / float(length_penalty(length + 1, 0.6)), list(ids)))
    expected = sorted(best, reverse=True)[:5]
    found = engine(*members).translate([source], Search(**{**vars(search), "nbest": 5}))[0]
    assert [each.ids for each in found] == [ids for _, ids in expected]
    assert [each.score for each in found] == pytest.approx([score for score, _ in expected], abs=1e-4)
    alone = [engine(model).translate([source], search)[0][0].score for model in members]
    assert found[0].score != pytest.approx(alone[0], abs=1e-3), "the members differ, or nothing was tested"


def test_scores_of_given_targets_are_the_log_of_the_mean() -> None:
    members = [tiny(1), tiny(2)]
    together = engine(*members).score(SOURCES, [[2, 3], [4], []])
    alone = [engine(model).score(SOURCES, [[2, 3], [4], []]) for model in members]
    for row, (left, right) in zip(together, zip(*alone, strict=True), strict=True):
        means = [math.log((math.exp(a) + math.exp(b)) / 2) for a, b in zip(left, right, strict=True)]
        assert row == pytest.approx(means, abs=1e-5)


def test_the_shortest_of_the_members_limits_the_length() -> None:
    limited = tiny(1)
    limited.max_length = 7
    assert Ensemble([tiny(2), limited]).max_length == 7
    assert Ensemble([tiny(2)]).max_length is None


def test_sentences_of_a_batch_do_not_mix() -> None:
    subwords = small_subwords()
    members = [random_model(SMALL, subwords, seed) for seed in (1, 2)]
    sources = [subwords.source.encode(text) for text in ("나는 학교에 갑니다", "네", "그는 어제 책을 읽었습니다")]
    together = engine(*members, pad=subwords.source.pad)  # type: ignore[arg-type]
    search = Search(beam=3, max_extra=5)
    batched = together.translate(sources, search)
    single = [together.translate([source], search)[0] for source in sources]
    assert [group[0].ids for group in batched] == [group[0].ids for group in single]
