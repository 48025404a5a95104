"""Attention between recurrent encoder and decoder, in the three ways of scoring and the three of feeding."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import linear

from tongsa.models.attentional import Alignment, Annotations, Attentional, AttentionalSection
from tongsa.models.cells import CELLS
from tongsa.models.contracts import token_mask

PAD = 11
SCORES = ["additive", "dot", "general", "concat"]
FEEDS = ["nothing", "attentional", "context"]
scores = pytest.mark.parametrize("score", SCORES)
feeds = pytest.mark.parametrize("feed", FEEDS)


def make(**keys: Any) -> Attentional:
    torch.manual_seed(0)
    model = Attentional(AttentionalSection(**{"d_model": 8, "hidden": 6, "dropout": 0.0, **keys}), PAD + 1).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= 4
    return model


def by_hand(score: str, alignment: Alignment, s: Tensor, h: Tensor) -> Tensor:
    """The score of one state and one annotation, as the papers write it."""
    if score == "dot":
        return s @ h
    if score == "concat":
        assert alignment.of_both is not None
        assert alignment.v is not None
        return alignment.v.weight[0] @ torch.tanh(alignment.of_both.weight @ torch.cat([s, h]))
    w = alignment.of_annotation.weight
    assert isinstance(w, Tensor)
    if score == "general":
        return s @ (w @ h)
    of_state = alignment.of_state.weight
    assert isinstance(of_state, Tensor)
    assert alignment.v is not None
    return alignment.v.weight[0] @ torch.tanh(of_state @ s + w @ h)


@scores
def test_scores_and_contexts_are_those_of_the_papers(score: str) -> None:
    torch.manual_seed(0)
    alignment = Alignment(score, 6)
    s, values, lengths = torch.randn(2, 3, 6), torch.randn(2, 5, 6), [5, 3]
    annotations = Annotations(values, alignment.keys(values), token_mask(torch.tensor(lengths), 5))
    context, weights = alignment(s, annotations)
    for row, length in enumerate(lengths):
        for step in range(3):
            expected = torch.stack([by_hand(score, alignment, s[row, step], h) for h in values[row, :length]])
            torch.testing.assert_close(weights[row, step, :length], expected.softmax(dim=0))
            assert not weights[row, step, length:].any()
            mean = (weights[row, step, :length, None] * values[row, :length]).sum(dim=0)
            torch.testing.assert_close(context[row, step], mean)


@torch.no_grad()
@pytest.mark.parametrize("attention", ["local-m", "local-p"])
def test_local_attention_is_that_of_the_paper(attention: str) -> None:
    """Luong et al., §3.2, written out for each step and place; D = 2."""
    torch.manual_seed(0)
    alignment = Alignment("general", 6, attention, window=2)
    s, values, lengths = torch.randn(2, 9, 6), torch.randn(2, 7, 6), [7, 4]
    annotations = Annotations(values, alignment.keys(values), token_mask(torch.tensor(lengths), 7))
    _, weights = alignment(s, annotations, torch.arange(1, 10)[None])
    for row, length in enumerate(lengths):
        for t in range(1, 10):
            state = s[row, t - 1]
            centre = float(min(t, length))
            if attention == "local-p":
                assert alignment.w_p is not None
                assert alignment.v_p is not None
                inner = alignment.v_p.weight[0] @ torch.tanh(alignment.w_p.weight @ state)
                centre = length / (1 + math.exp(-float(inner)))
            expected = torch.zeros(7)
            near = [i for i in range(1, length + 1) if abs(i - centre) <= 2]
            found = torch.stack([by_hand("general", alignment, state, values[row, i - 1]) for i in near]).softmax(dim=0)
            for i, weight in zip(near, found, strict=True):
                fade = math.exp(-((i - centre) ** 2) / (2 * 1.0**2)) if attention == "local-p" else 1.0  # σ = D/2
                expected[i - 1] = weight * fade
            torch.testing.assert_close(weights[row, t - 1], expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("attention", ["local-m", "local-p"])
@feeds
def test_a_search_with_local_attention_sees_what_training_saw(attention: str, feed: str) -> None:
    model = make(attention=attention, window=1, feed=feed)
    source = torch.tensor([[2, 3, 4, 5, 0], [6, 7, 0, PAD, PAD]])
    target = torch.tensor([[PAD, 3, 9, 4], [PAD, 4, 5, 6]])
    memory = model.encode(source, source != PAD)
    state, steps = model.start(memory), []
    for tokens in target.unbind(dim=1):
        logits, state = model.step(tokens, state)
        steps.append(logits)
    torch.testing.assert_close(torch.stack(steps, dim=1), model(source, source != PAD, target), atol=1e-5, rtol=0)


@feeds
def test_a_step_is_that_of_the_paper(feed: str) -> None:
    """Written out for one layer, from the weights."""
    model = make(feed=feed, architecture="gru-attention")
    source, mask = torch.tensor([[2, 3, 4, 0]]), torch.ones(1, 4, dtype=torch.bool)
    annotations, ((s,),) = model.encode(source, mask)
    t = torch.zeros(1, 8)
    logits = []
    for token in (PAD, 5, 6):
        y = model.target_embedding(torch.tensor([token])) * 8**0.5  # sqrt(d_model)
        if feed == "context":
            c = model.alignment(s[:, None], annotations)[0][:, 0]
            (s,) = CELLS["gru"](torch.cat([y, c], dim=1), (s,), model.decoder.weights(0))
            assert model.deep_output is not None
            t = model.deep_output(s, y, c)
        else:
            x = torch.cat([y, t], dim=1) if feed == "attentional" else y
            (s,) = CELLS["gru"](x, (s,), model.decoder.weights(0))
            c = model.alignment(s[:, None], annotations)[0][:, 0]
            assert model.combine is not None
            t = torch.tanh(linear(torch.cat([c, s], dim=1), model.combine.weight))
        logits.append(linear(t, model.output.weight[:-1]))
    found = model(source, mask, torch.tensor([[PAD, 5, 6]]))
    torch.testing.assert_close(found[0], torch.cat(logits), atol=1e-5, rtol=0)


@scores
@feeds
def test_attention_looks_from_every_target_token_at_every_source_token(score: str, feed: str) -> None:
    model = make(score=score, feed=feed, layers=2)
    source = torch.tensor([[2, 3, 4, 5, 0], [6, 7, 0, PAD, PAD]])
    target = torch.tensor([[PAD, 3, 9], [PAD, 4, PAD]])
    seen = model.attend(source, source != PAD, target)
    assert (seen.encoder, seen.decoder) == ([], [])
    (weights,) = seen.cross
    assert weights.shape == (2, 1, 3, 5)
    assert not weights.requires_grad


def test_a_fed_decoder_remembers_where_it_has_looked() -> None:
    """What input feeding is for: change what was read from the source, and the next state is another."""
    for feed in FEEDS:
        model = make(feed=feed)
        source = torch.tensor([[2, 3, 4, 0]])
        annotations, last = model.encode(source, torch.ones_like(source, dtype=torch.bool))
        other = annotations._replace(values=annotations.values + 1)
        after = []
        for each in (annotations, other):
            state = model.start((each, last))
            for token in (PAD, 5):
                _, state = model.step(torch.tensor([token]), state)
            after.append(state.cache[0][-1][0])  # type: ignore[index]
        assert torch.allclose(*after, atol=1e-6) == (feed == "nothing")


def test_the_encoder_of_the_paper_reads_in_both_directions() -> None:
    """So the first annotation knows the last word; with one direction it does not."""
    for bidirectional in (True, False):
        model = make(bidirectional=bidirectional)
        first = []
        for word in (3, 9):
            source = torch.tensor([[2, 4, word]])
            annotations, _ = model.encode(source, torch.ones_like(source, dtype=torch.bool))
            first.append(annotations.values[0, 0])
        assert torch.allclose(*first, atol=1e-6) != bidirectional


def test_dropout_never_lies_on_the_way_from_one_step_to_the_next() -> None:
    """Zaremba et al.: with everything else switched off, states in training are states in use."""
    model = make(layers=1, feed="attentional", dropout=0.5)
    source = torch.tensor([[2, 3, 4, 0]])
    annotations, last = model.encode(source, torch.ones_like(source, dtype=torch.bool))
    y = torch.randn(1, 8)
    states, t, _ = model._step(y, last, torch.randn(1, 8, generator=torch.Generator().manual_seed(1)), annotations)
    model.train()
    again, t_again, _ = model._step(y, last, torch.randn(1, 8, generator=torch.Generator().manual_seed(1)), annotations)
    torch.testing.assert_close(again, states)
    torch.testing.assert_close(t_again, t)
