"""What the contract promises, held for every architecture there is: a new one only has to be registered."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from small_translators import small_subwords
from tongsa import Translator
from tongsa.config import Recipe
from tongsa.decoding import Search
from tongsa.engines.native import NativeEngine
from tongsa.models import architectures_of, build
from tongsa.models.contracts import Seq2Seq, State, Tree, select, token_mask
from tongsa.models.loss import linear_cross_entropy
from tongsa.models.next_word import NextWordTransformer
from tongsa.models.weights import named_weights, shapes_only
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.training.optimizer import FlatOptimizer

PAD, END = 11, 0

COMMON: dict[str, Any] = {"d_model": 16, "dropout": 0.0}

SMALL: dict[str, list[dict[str, Any]]] = {
    "transformer": [
        {"encoder_layers": 2, "decoder_layers": 3, "d_ff": 24, "heads": 4, **keys}
        for keys in (
            {},
            {"norm": "pre"},
            {"positions": "learned", "max_positions": 40},
            {"d_k": 3, "d_v": 5},
            {"tied": False, "activation": "gelu"},
            {"attention": "additive", "neighbourhood": 3, "projections": "query-key", "positions": "none"},
            {
                "attention": "dot-product",
                "projections": "none",
                "feed_forward": "none",
                "norm": "none",
                "scale_embeddings": False,
                "join_positions": "concatenate",
            },
        )
    ],
    "rnn": [{}, {"layers": 2, "bidirectional": True}],
    "gru": [{"hidden": 20, "feed_context": True}, {"layers": 2, "reverse": True, "tied": False}],
    "lstm": [{"layers": 2, "reverse": True}, {"hidden": 20, "bidirectional": True, "feed_context": True}],
    "gru-attention": [{"score": "additive", "feed": "context", "hidden": 20}, {"score": "dot", "layers": 2}],
    "lstm-attention": [
        {"score": "general", "feed": "attentional", "layers": 2, "hidden": 20},
        {"score": "additive"},
        {"score": "dot", "feed": "context", "bidirectional": False, "tied": False},
    ],
    "convs2s": [
        {"encoder_layers": 2, "decoder_layers": 2, "hidden": 20, "max_positions": 40},
        {"encoder_layers": 1, "decoder_layers": 3, "kernel": 5, "max_positions": 40, "tied": False},
    ],
    "bytenet": [{"sets": 1, "max_dilation": 4}, {"sets": 2, "max_dilation": 2, "unfold_b": 3, "tied": False}],
    "extended-neural-gpu": [
        {"rows": 3, "layers": 2},
        {"rows": 1, "layers": 1, "unfold_a": 1.0, "unfold_b": 0, "tied": False},  # targets outgrow the image
    ],
}
"""The keys that make each architecture small, some variants of it; one that is not here has its own defaults."""

KINDS = [{"architecture": name, **keys} for name in architectures_of(Seq2Seq) for keys in SMALL.get(name, [{}])]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: ",".join(map(str, kind.values())))
few = settings(max_examples=10, deadline=None)
token = st.integers(2, 10)


def recipe(kind: dict[str, Any]) -> Recipe:
    return Recipe.from_values({"model": {**COMMON, **kind}}, "a test")


def make(kind: dict[str, Any], source_size: int = PAD + 1, target_size: int | None = None) -> Seq2Seq:
    torch.manual_seed(1)
    return build(recipe(kind).model, source_size, target_size).eval()


def spread(logits: Tensor) -> float:
    return float(logits.detach().std())


def assert_same(found: Tensor, expected: Tensor, tolerance: float = 1e-5) -> None:
    """As a part of how far apart logits are: some architectures begin with small ones, some with large ones."""
    torch.testing.assert_close(found, expected, atol=tolerance * spread(expected) + 1e-7, rtol=0)


def differ(found: Tensor, expected: Tensor) -> bool:
    return bool((found - expected).abs().max() > 1e-3 * spread(expected))


@cache
def made(kind: tuple[tuple[str, Any], ...]) -> Seq2Seq:
    return make(dict(kind))


def known(kind: dict[str, Any]) -> Seq2Seq:
    """The same model for every example of a property."""
    return made(tuple(kind.items()))


def padded(rows: list[list[int]], extra: int = 0) -> tuple[Tensor, Tensor]:
    width = max(map(len, rows)) + extra
    lengths = torch.tensor([len(row) for row in rows])
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows]), token_mask(lengths, width)


@pytest.fixture
def batch() -> tuple[Tensor, Tensor, Tensor]:
    source, mask = padded([[2, 3, 4, 5, END], [6, 7, END], [8, 2, 9, END]])
    return source, mask, torch.tensor([[PAD, 3, 3, 7], [PAD, 10, PAD, PAD], [PAD, 2, 9, PAD]])


@kinds
@few
@given(source=st.lists(token, min_size=1, max_size=6), target=st.lists(token, min_size=2, max_size=6), data=st.data())
def test_a_later_target_token_never_changes_an_earlier_logit(
    kind: dict[str, Any], source: list[int], target: list[int], data: st.DataObject
) -> None:
    model = known(kind)
    place = data.draw(st.integers(1, len(target) - 1))
    changed = [*target[:place], *data.draw(st.lists(token, min_size=len(target) - place, max_size=len(target) - place))]
    read, mask = padded([source])
    before, after = (model(read, mask, torch.tensor([[PAD, *ids]])) for ids in (target, changed))
    # logit i is written before target token i is read
    assert_same(after[:, : place + 1], before[:, : place + 1], tolerance=1e-6)


@kinds
def test_earlier_target_tokens_and_every_source_token_change_the_logits(kind: dict[str, Any]) -> None:
    """The counterpart of causality: what may be seen is seen."""
    model = known(kind)
    read, mask = padded([[2, 3, 4, END]])
    target = torch.tensor([[PAD, 5, 6]])
    before = model(read, mask, target)
    for place in range(3):
        other = read.clone()
        other[0, place] = 9
        assert differ(model(other, mask, target), before)
    assert differ(model(read, mask, torch.tensor([[PAD, 9, 6]]))[:, 1:], before[:, 1:])


@kinds
@few
@given(
    pairs=st.lists(
        st.tuples(st.lists(token, min_size=1, max_size=6), st.lists(token, min_size=1, max_size=6)),
        min_size=1,
        max_size=5,
    ),
    extra=st.integers(0, 2),
    order=st.randoms(use_true_random=False),
)
def test_padding_and_batch_mates_change_nothing(
    kind: dict[str, Any], pairs: list[tuple[list[int], list[int]]], extra: int, order: Any
) -> None:
    model = known(kind)
    order.shuffle(pairs)
    read, mask = padded([source for source, _ in pairs], extra)
    target, _ = padded([[PAD, *ids] for _, ids in pairs], extra)
    together = model(read, mask, target)
    for row, (source, ids) in enumerate(pairs):
        alone = model(*padded([source]), torch.tensor([[PAD, *ids]]))[0]
        assert_same(together[row, : len(ids) + 1], alone)


@kinds
def test_what_lies_in_the_padding_is_never_read(kind: dict[str, Any], batch: tuple[Tensor, Tensor, Tensor]) -> None:
    source, mask, target = batch
    other = source.masked_fill(~mask, 5)
    assert_same(known(kind)(other, mask, target), known(kind)(*batch))


@kinds
def test_steps_equal_the_whole_target_at_once(kind: dict[str, Any], batch: tuple[Tensor, Tensor, Tensor]) -> None:
    model = known(kind)
    source, mask, target = batch
    state = model.start(model.encode(source, mask))
    found = []
    for tokens in target.T:
        logits, state = model.step(tokens, state)
        found.append(logits)
    assert_same(torch.stack(found, dim=1), model(*batch))


@kinds
def test_a_state_can_be_reordered_and_cut(kind: dict[str, Any], batch: tuple[Tensor, Tensor, Tensor]) -> None:
    """As search does: rows of the cache and the memory move together."""
    model = known(kind)
    source, mask, target = batch
    rows = torch.tensor([2, 0, 2])
    state = model.start(model.encode(source, mask))
    for tokens in target.T[:2]:
        _, state = model.step(tokens, state)
    state = State(select(state.memory, rows), select(state.cache, rows))
    logits, _ = model.step(target[rows, 2], state)
    assert_same(logits, model(source, mask, target)[rows, 2])


def leaves(tree: Tree) -> list[Tensor]:
    return [tree] if isinstance(tree, Tensor) else [leaf for branch in tree for leaf in leaves(branch)]


@kinds
def test_a_step_leaves_the_state_before_it_as_it_was(
    kind: dict[str, Any], batch: tuple[Tensor, Tensor, Tensor]
) -> None:
    model = known(kind)
    state = model.start(model.encode(*batch[:2]))
    for tokens in batch[2].T:
        before = leaves(state.memory) + leaves(state.cache)
        assert all(len(leaf) == 3 for leaf in before), "the batch comes first"
        kept = [leaf.clone() for leaf in before]
        _, after = model.step(tokens, state)
        assert all(map(torch.equal, before, kept))
        assert all(map(torch.equal, leaves(after.memory), leaves(state.memory)))
        state = after


@kinds
def test_beam_search_finds_the_probability_that_the_whole_target_has(kind: dict[str, Any]) -> None:
    """Hypotheses change places many times on the way: one state astray, and the two would differ."""
    engine = NativeEngine(make(kind), source_pad=PAD, target_pad=PAD, end=END)
    sources = [[2, 3, 4, 5, 6], [7], [8, 9, 2]]
    found = engine.translate(sources, Search(beam=4, nbest=4, max_extra=6, length_penalty=0.0))
    for source, hypotheses in zip(sources, found, strict=True):
        scores = engine.score([source] * 4, [hypothesis.ids for hypothesis in hypotheses])
        expected = pytest.approx([hypothesis.log_probability for hypothesis in hypotheses], abs=1e-4)
        assert [sum(log_p) for log_p in scores] == expected


@kinds
@pytest.mark.parametrize("target_size", [None, 30])
def test_pad_is_never_written_whatever_the_vocabularies(kind: dict[str, Any], target_size: int | None) -> None:
    model = make(kind, PAD + 1, target_size)
    size = target_size or PAD + 1
    source, mask = padded([[2, 3, 10], [5]])
    target = torch.tensor([[size - 1, 4, size - 2]] * 2)
    assert model(source, mask, target).shape == (2, 3, size - 1)
    assert model.projection().shape[0] == size


@kinds
def test_a_model_without_values_has_the_shapes_of_one_with_them(kind: dict[str, Any]) -> None:
    with shapes_only():
        empty = make(kind, PAD + 1, 30)
    assert all(parameter.is_meta for parameter in empty.parameters())
    shapes = [(name, parameter.shape) for name, parameter in empty.named_parameters()]
    assert shapes == [(name, parameter.shape) for name, parameter in make(kind, PAD + 1, 30).named_parameters()]


@kinds
def test_every_weight_learns_and_dropout_acts_in_training_only(
    kind: dict[str, Any], batch: tuple[Tensor, Tensor, Tensor]
) -> None:
    model = make({**kind, "dropout": 0.3}, PAD + 1, 30)
    if isinstance(model, NextWordTransformer):  # half of the pieces begin words, half of the tokens take one
        model.know_words(*(torch.arange(size) % 2 == 0 for size in (PAD + 1, 30)))
    assert torch.equal(model(*batch), model(*batch))
    model.train()
    assert not torch.equal(model(*batch), model(*batch))
    adam = FlatOptimizer(model, recipe(kind).training)
    seen = torch.zeros_like(adam.gradient, dtype=torch.bool)
    for _ in range(5):
        adam.clear()
        source, mask = padded(torch.randint(2, PAD, (16, 6)).tolist())
        features = model.features(model.encode(source, mask), torch.randint(2, 29, (16, 5))).flatten(0, 1)
        linear_cross_entropy(features, model.projection(), torch.randint(2, 29, (80,)), 0.1).total.backward()
        seen |= adam.gradient != 0
    assert all(bool(part.any()) for part in seen.split([p.numel() for p in model.parameters()]))


@kinds
def test_attention_is_a_distribution_over_what_is_no_padding(
    kind: dict[str, Any], batch: tuple[Tensor, Tensor, Tensor]
) -> None:
    model = make(kind)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= 3  # so that it prefers some to others
    for weights in model.attend(*batch).cross:
        assert weights.shape[0] == 3
        assert tuple(weights.shape[2:]) == (4, 5)
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))
        assert not weights.transpose(1, 3)[~batch[1]].any()
        assert not torch.equal(weights[:, :, 1], weights[:, :, 2])


@kinds
@pytest.mark.parametrize("joint", [True, False])
def test_a_saved_translator_translates_as_the_model_did(kind: dict[str, Any], joint: bool, tmp_path: Path) -> None:
    subwords = small_subwords(joint=joint)
    model = make(kind, len(subwords.source), None if joint else len(subwords.target))
    subwords.save(tmp_path)
    Run(tmp_path).write_translator(Card(source="ko", target="en", recipe=recipe(kind)), named_weights(model))
    loaded = Translator.load(tmp_path, engine="native")
    pads = {"source_pad": subwords.source.pad, "target_pad": subwords.target.pad}
    engine = NativeEngine(model, **pads, end=END, unwritable=subwords.target.unwritable)
    search = Search(beam=2, max_extra=4)
    ((expected,),) = engine.translate([subwords.source.encode("고양이가 물을 마신다.")], search)
    (found,) = loaded.translate(["고양이가 물을 마신다."], search)
    assert found.score == pytest.approx(expected.score, abs=1e-5)
