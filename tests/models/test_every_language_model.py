"""What the contract promises of decoders without a source, held for every architecture that is one."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tongsa.config import Recipe, TrainingSection
from tongsa.decoding import Hypothesis, Search, Special, continue_prompts
from tongsa.decoding.search import Sampling
from tongsa.models import architectures_of, build_a
from tongsa.models.contracts import NO_MEMORY, Decoder, Seq2Seq, State, Tree, select
from tongsa.models.loss import linear_cross_entropy
from tongsa.training.optimizer import FlatOptimizer

PAD, END = 11, 0
SPECIAL = Special(start=PAD, end=END)

COMMON: dict[str, Any] = {"d_model": 16, "dropout": 0.0}

SMALL: dict[str, list[dict[str, Any]]] = {
    "decoder-only": [
        {"layers": 2, "d_ff": 24, "heads": 4, **keys}
        for keys in (
            {},
            {"norm": "pre", "activation": "gelu"},
            {"positions": "learned", "max_positions": 40},
            {"d_k": 3, "d_v": 5, "tied": False},
        )
    ],
    "recurrent-language-model": [{}, {"cell": "gru", "hidden": 12}, {"cell": "rnn", "layers": 1, "tied": False}],
    "memory-language-model": [{"hops": 2, "memories": 20}, {"hops": 3, "memories": 9}],
}
"""The keys that make each architecture small, some variants of it; one that is not here has its own defaults."""

KINDS = [
    {"architecture": name, **keys}
    for name in architectures_of(Decoder)
    if name not in architectures_of(Seq2Seq)
    for keys in SMALL.get(name, [{}])
]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: ",".join(map(str, kind.values())))
few = settings(max_examples=10, deadline=None)
token = st.integers(2, 10)


def make(kind: dict[str, Any], size: int = PAD + 1) -> Decoder:
    torch.manual_seed(1)
    return build_a(Decoder, Recipe.from_values({"model": {**COMMON, **kind}}, "a test").model, size).eval()


@cache
def made(kind: tuple[tuple[str, Any], ...]) -> Decoder:
    return make(dict(kind))


def known(kind: dict[str, Any]) -> Decoder:
    """The same model for every example of a property."""
    return made(tuple(kind.items()))


def logits(model: Decoder, target: Tensor) -> Tensor:
    return model.project(model.features(NO_MEMORY, target))


def assert_same(found: Tensor, expected: Tensor, tolerance: float = 1e-5) -> None:
    torch.testing.assert_close(found, expected, atol=tolerance * float(expected.detach().std()) + 1e-7, rtol=0)


TARGET = torch.tensor([[PAD, 3, 3, 7], [PAD, 10, PAD, PAD], [PAD, 2, 9, PAD]])


@kinds
@few
@given(target=st.lists(token, min_size=2, max_size=8), data=st.data())
def test_a_later_token_never_changes_an_earlier_logit(
    kind: dict[str, Any], target: list[int], data: st.DataObject
) -> None:
    model = known(kind)
    place = data.draw(st.integers(1, len(target) - 1))
    rest = data.draw(st.lists(token, min_size=len(target) - place, max_size=len(target) - place))
    before, after = (logits(model, torch.tensor([[PAD, *ids]])) for ids in (target, [*target[:place], *rest]))
    assert_same(after[:, : place + 1], before[:, : place + 1], tolerance=1e-6)


@kinds
def test_every_earlier_token_changes_the_logits(kind: dict[str, Any]) -> None:
    """The counterpart of causality: what may be seen is seen."""
    model = known(kind)
    before = logits(model, torch.tensor([[PAD, 2, 3, 4]]))
    for place in (1, 2, 3):
        other = torch.tensor([[PAD, 2, 3, 4]])
        other[0, place] = 9
        after = logits(model, other)
        assert (after[0, 3] - before[0, 3]).abs().max() > 1e-3 * before.detach().std()


@kinds
@few
@given(rows=st.lists(st.lists(token, min_size=1, max_size=6), min_size=1, max_size=5), extra=st.integers(0, 2))
def test_padding_and_batch_mates_change_nothing(kind: dict[str, Any], rows: list[list[int]], extra: int) -> None:
    model = known(kind)
    width = max(map(len, rows)) + extra
    together = logits(model, torch.tensor([[PAD, *ids, *[PAD] * (width - len(ids))] for ids in rows]))
    for row, ids in enumerate(rows):
        assert_same(together[row, : len(ids) + 1], logits(model, torch.tensor([[PAD, *ids]]))[0])


@kinds
def test_steps_equal_the_whole_target_at_once(kind: dict[str, Any]) -> None:
    model = known(kind)
    state = model.start(NO_MEMORY)
    found = []
    for tokens in TARGET.T:
        written, state = model.step(tokens, state)
        found.append(written)
    assert_same(torch.stack(found, dim=1), logits(model, TARGET))


@kinds
def test_a_state_can_be_reordered_and_cut(kind: dict[str, Any]) -> None:
    model = known(kind)
    rows = torch.tensor([2, 0, 2])
    state = model.start(NO_MEMORY)
    for tokens in TARGET.T[:2]:
        _, state = model.step(tokens, state)
    state = State(select(state.memory, rows), select(state.cache, rows))
    found, _ = model.step(TARGET[rows, 2], state)
    assert_same(found, logits(model, TARGET)[rows, 2])


def leaves(tree: Tree) -> list[Tensor]:
    return [tree] if isinstance(tree, Tensor) else [leaf for branch in tree for leaf in leaves(branch)]


@kinds
def test_a_step_leaves_the_state_before_it_as_it_was(kind: dict[str, Any]) -> None:
    model = known(kind)
    state = model.start(NO_MEMORY)
    for tokens in TARGET.T:
        before = leaves(state.memory) + leaves(state.cache)
        kept = [leaf.clone() for leaf in before]
        _, state = model.step(tokens, state)
        assert all(map(torch.equal, before, kept))


@kinds
def test_pad_is_never_written(kind: dict[str, Any]) -> None:
    model = make(kind)
    assert logits(model, TARGET).shape == (3, 4, PAD)
    assert model.projection().shape[0] == PAD + 1


@kinds
def test_every_weight_learns_and_dropout_acts_in_training_only(kind: dict[str, Any]) -> None:
    model = make({**kind, "dropout": 0.3})
    assert torch.equal(logits(model, TARGET), logits(model, TARGET))
    model.train()
    assert not torch.equal(logits(model, TARGET), logits(model, TARGET))
    adam = FlatOptimizer(model, TrainingSection())
    seen = torch.zeros_like(adam.gradient, dtype=torch.bool)
    for _ in range(5):
        adam.clear()
        features = model.features(NO_MEMORY, torch.randint(2, PAD, (16, 30))).flatten(0, 1)
        linear_cross_entropy(features, model.projection(), torch.randint(2, PAD, (480,)), 0.1).total.backward()
        seen |= adam.gradient != 0
    assert all(bool(part.any()) for part in seen.split([p.numel() for p in model.parameters()]))


PROMPTS = torch.tensor([[3, 4, 5], [6, 2, 9]])


def log_probability(model: Decoder, prompt: list[int], found: Hypothesis) -> float:
    read = torch.tensor([[PAD, *prompt, *found.ids]])
    log_p = torch.log_softmax(logits(model, read).detach()[0, len(prompt) :], dim=-1)
    return float(sum(log_p[place, token] for place, token in enumerate([*found.ids, END])))


@kinds
@pytest.mark.parametrize(
    "search",
    [Search(beam=1), Search(beam=3, nbest=2), Search(nbest=2, sampling=Sampling(seed=3))],
    ids=["greedy", "beam", "sampling"],
)
def test_a_continuation_has_the_probability_that_it_has_after_its_prompt(kind: dict[str, Any], search: Search) -> None:
    model = known(kind)
    for prompt, hypotheses in zip(PROMPTS.tolist(), continue_prompts(model, PROMPTS, 6, search, SPECIAL), strict=True):
        assert len(hypotheses) == search.nbest
        for found in hypotheses:
            assert len(found.ids) < 6
            assert found.log_probability == pytest.approx(log_probability(model, prompt, found), abs=1e-4)


@kinds
def test_greedy_continues_with_the_likeliest_token_after_the_prompt(kind: dict[str, Any]) -> None:
    model = known(kind)
    ((first,), (second,)) = continue_prompts(model, PROMPTS, 4, Search(beam=1), SPECIAL)
    for prompt, found in zip(PROMPTS.tolist(), (first, second), strict=True):
        expected = logits(model, torch.tensor([[PAD, *prompt]]))[0, -1].argmax()
        assert [*found.ids, END][0] == int(expected)


@kinds
def test_an_empty_prompt_is_a_beginning(kind: dict[str, Any]) -> None:
    model = known(kind)
    ((found,),) = continue_prompts(model, torch.empty(1, 0, dtype=torch.long), 4, Search(beam=1), SPECIAL)
    assert found.log_probability == pytest.approx(log_probability(model, [], found), abs=1e-4)


def test_a_continuation_ends_where_the_learned_positions_do() -> None:
    model = make({"architecture": "decoder-only", "positions": "learned", "max_positions": 6, "heads": 2, "layers": 1})
    ((found,),) = continue_prompts(model, torch.tensor([[2, 3, 4]]), 50, Search(beam=1), SPECIAL)
    assert len(found.ids) <= 3
