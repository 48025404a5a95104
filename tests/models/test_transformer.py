"""What holds for every Transformer, whatever its weights."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from tongsa.models.contract import Seq2Seq, State, Tree, select, token_mask
from tongsa.models.transformer import Transformer
from tongsa.training.loss import linear_cross_entropy

Maker = Callable[..., Transformer]
Batch = tuple[Tensor, Tensor, Tensor]

KINDS = [
    {},
    {"norm": "pre"},
    {"positions": "learned", "max_positions": 9},
    {"d_k": 3, "d_v": 5},
    {"tied": False, "activation": "gelu"},
]
kinds = pytest.mark.parametrize("kind", KINDS, ids=str)
some = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
token = st.integers(2, 10)


def padded(rows: list[list[int]], extra: int = 0) -> tuple[Tensor, Tensor]:
    width = max(map(len, rows)) + extra
    lengths = torch.tensor([len(row) for row in rows])
    return torch.tensor([row + [11] * (width - len(row)) for row in rows]), token_mask(lengths, width)


@kinds
@some
@given(source=st.lists(token, min_size=1, max_size=6), target=st.lists(token, min_size=2, max_size=6), data=st.data())
def test_a_later_target_token_never_changes_an_earlier_logit(
    make: Maker, kind: dict[str, object], source: list[int], target: list[int], data: st.DataObject
) -> None:
    model = make(**kind).eval()
    place = data.draw(st.integers(1, len(target) - 1))
    changed = [*target[:place], *data.draw(st.lists(token, min_size=len(target) - place, max_size=len(target) - place))]
    read, mask = padded([source])
    before, after = (model(read, mask, torch.tensor([[11, *ids]])) for ids in (target, changed))
    # logit i is written before target token i is read
    torch.testing.assert_close(after[:, : place + 1], before[:, : place + 1], atol=1e-6, rtol=0)


@kinds
def test_an_earlier_target_token_and_every_source_token_change_the_logits(make: Maker, kind: dict[str, object]) -> None:
    """The counterpart of causality: what may be seen is seen."""
    model = make(**kind).eval()
    read, mask = padded([[2, 3, 4]])
    target = torch.tensor([[11, 5, 6]])
    before = model(read, mask, target)
    for place in range(3):
        other = read.clone()
        other[0, place] = 9
        assert not torch.allclose(model(other, mask, target), before, atol=1e-4)
    assert not torch.allclose(model(read, mask, torch.tensor([[11, 9, 6]]))[:, 1:], before[:, 1:], atol=1e-4)


@kinds
@some
@given(
    pairs=st.lists(
        st.tuples(st.lists(token, min_size=1, max_size=6), st.lists(token, min_size=1, max_size=6)),
        min_size=1,
        max_size=5,
    ),
    extra=st.integers(0, 2),
    order=st.randoms(use_true_random=False),
)
def test_padding_and_batch_order_change_nothing(
    make: Maker, kind: dict[str, object], pairs: list[tuple[list[int], list[int]]], extra: int, order: object
) -> None:
    model = make(**kind).eval()
    order.shuffle(pairs)  # type: ignore[attr-defined]
    read, mask = padded([source for source, _ in pairs], extra)
    target, _ = padded([[11, *ids] for _, ids in pairs], extra)
    together = model(read, mask, target)
    for row, (source, ids) in enumerate(pairs):
        alone = model(*padded([source]), torch.tensor([[11, *ids]]))[0]
        torch.testing.assert_close(together[row, : len(ids) + 1], alone, atol=1e-5, rtol=0)


def steps(model: Seq2Seq, source: Tensor, mask: Tensor, target: Tensor) -> Tensor:
    """Logits of the target's steps, one by one through the cache."""
    state = model.start(model.encode(source, mask))
    found = []
    for tokens in target.T:
        logits, state = model.step(tokens, state)
        found.append(logits)
    return torch.stack(found, dim=1)


@kinds
def test_cached_steps_equal_the_whole_sequence_at_once(make: Maker, batch: Batch, kind: dict[str, object]) -> None:
    model = make(**kind).eval()
    torch.testing.assert_close(steps(model, *batch), model(*batch), atol=1e-5, rtol=0)


def test_a_state_can_be_reordered_and_cut(make: Maker, batch: Batch) -> None:
    """As search does: rows of the cache and the memory move together."""
    model = make().eval()
    source, mask, target = batch
    rows = torch.tensor([2, 0, 2])
    state = model.start(model.encode(source, mask))
    for tokens in target.T[:2]:
        _, state = model.step(tokens, state)
    state = State(select(state.memory, rows), select(state.cache, rows))
    logits, _ = model.step(target[rows, 2], state)
    torch.testing.assert_close(logits, model(source, mask, target)[rows, 2], atol=1e-5, rtol=0)


def leaves(tree: Tree) -> list[Tensor]:
    return [tree] if isinstance(tree, Tensor) else [leaf for branch in tree for leaf in leaves(branch)]


def test_a_state_is_a_tree_of_tensors_with_the_batch_first(make: Maker, batch: Batch) -> None:
    model = make()
    state = model.start(model.encode(*batch[:2]))
    for tokens in batch[2].T:
        assert all(len(leaf) == 3 for leaf in leaves(state.memory) + leaves(state.cache))
        memory = [leaf.clone() for leaf in leaves(state.memory)]
        earlier = state
        _, state = model.step(tokens, state)
        assert all(map(torch.equal, leaves(state.memory), memory)), "a step leaves the memory as it is"
        assert all(len(leaf) == 3 for leaf in leaves(earlier.cache))


def test_a_step_can_be_taken_twice_from_the_same_state(make: Maker, batch: Batch) -> None:
    model = make().eval()
    _, state = model.step(batch[2][:, 0], model.start(model.encode(*batch[:2])))
    first, _ = model.step(torch.tensor([2, 3, 4]), state)
    model.step(torch.tensor([7, 7, 7]), state)
    again, _ = model.step(torch.tensor([2, 3, 4]), state)
    assert torch.equal(first, again)


@kinds
def test_attention_can_be_had_of_every_layer_and_head(make: Maker, batch: Batch, kind: dict[str, object]) -> None:
    model = make(**kind).eval()
    seen = model.attend(*batch)
    assert [tuple(w.shape) for w in seen.encoder] == 2 * [(3, 4, 5, 5)]
    assert [tuple(w.shape) for w in seen.decoder] == 3 * [(3, 4, 4, 4)]
    assert [tuple(w.shape) for w in seen.cross] == 3 * [(3, 4, 4, 5)]
    for weights in [*seen.encoder, *seen.decoder, *seen.cross]:
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))
    for weights in [*seen.encoder, *seen.cross]:
        assert not weights.transpose(1, 3)[~batch[1]].any(), "nobody looks at padding"
    for weights in seen.decoder:
        assert not weights.triu(1).any(), "nobody looks ahead"


def test_attention_weights_are_not_kept_on_the_module(make: Maker, batch: Batch) -> None:
    model = make()

    def everything() -> set[tuple[str, str]]:
        return {(name, key) for name, module in model.named_modules() for key in vars(module)}

    tensors = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    before = everything()
    model.attend(*batch)
    model(*batch)
    model.step(batch[2][:, 0], model.start(model.encode(*batch[:2])))
    assert everything() == before
    assert all(torch.equal(tensor, tensors[name]) for name, tensor in model.state_dict().items())


@pytest.mark.parametrize("sizes", [(12, None), (12, 9)])
@pytest.mark.parametrize("tied", [True, False])
def test_the_embedding_of_pad_stays_zero_in_training(make: Maker, sizes: tuple[int, int | None], tied: bool) -> None:
    model = make(sizes, tied=tied)
    pad = (sizes[1] or sizes[0]) - 1
    adam = torch.optim.Adam(model.parameters(), lr=0.01)
    source, mask = padded([[2, 3, 4], [5]])
    for _ in range(3):
        features = model.features(source, mask, torch.tensor([[pad, 3, 2], [pad, 4, pad]]))
        labels = torch.tensor([[3, 2, 0], [4, 0, pad]])
        real = labels != pad
        adam.zero_grad()
        linear_cross_entropy(features[real], model.projection(), labels[real], 0.1).smoothed.backward()
        adam.step()
    for embedding in (model.source_embedding, model.target_embedding):
        assert embedding.weight[:-1].abs().sum() > 0
        assert not embedding.weight[-1].any()


def test_pad_is_never_written(make: Maker, batch: Batch) -> None:
    model = make((12, None))
    assert model(*batch).shape == (3, 4, 11)
    assert make((12, 30))(*batch).shape == (3, 4, 29)


@pytest.mark.parametrize(
    ("sizes", "tied", "tables"),
    [((12, None), True, 1), ((12, None), False, 3), ((12, 9), True, 2), ((12, 9), False, 3)],
)
def test_a_joint_vocabulary_is_tied_three_ways_and_two_are_tied_two_ways(
    make: Maker, sizes: tuple[int, int | None], tied: bool, tables: int
) -> None:
    model = make(sizes, tied=tied)
    found = {id(table.weight) for table in (model.source_embedding, model.target_embedding, model.output)}
    assert len(found) == tables
    assert (model.output is model.target_embedding) == tied


def test_learned_positions_say_how_long_a_sequence_may_be(make: Maker) -> None:
    assert make(positions="learned", max_positions=9).max_length == 9
    assert make().max_length is None
    model = make(positions="learned", max_positions=9)
    model(*padded([[2] * 9]), torch.tensor([[11, *[3] * 8]]))


def test_sinusoids_reach_further_than_their_first_table(make: Maker) -> None:
    model = make(encoder_layers=1, decoder_layers=1).eval()
    source, mask = padded([[2, 3] * 350])
    assert model(source, mask, torch.full((1, 3), 5)).isfinite().all()


def test_dropout_acts_in_training_only(make: Maker, batch: Batch) -> None:
    model = make(dropout=0.5)
    model.train()
    assert not torch.equal(model(*batch), model(*batch))
    model.eval()
    assert torch.equal(model(*batch), model(*batch))


def test_encoder_and_decoder_may_differ_in_depth(make: Maker, batch: Batch) -> None:
    model = make(encoder_layers=3, decoder_layers=1)
    assert (len(model.encoder), len(model.decoder)) == (3, 1)
    seen = model.attend(*batch)
    assert (len(seen.encoder), len(seen.cross)) == (3, 1)
