"""What holds for every Transformer beyond the contract, which test_every_architecture.py holds it to."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from tongsa.models.contracts import token_mask
from tongsa.models.loss import linear_cross_entropy
from tongsa.models.transformer import Transformer

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


def padded(rows: list[list[int]]) -> tuple[Tensor, Tensor]:
    width = max(map(len, rows))
    lengths = torch.tensor([len(row) for row in rows])
    return torch.tensor([row + [11] * (width - len(row)) for row in rows]), token_mask(lengths, width)


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
        features = model.features(model.encode(source, mask), torch.tensor([[pad, 3, 2], [pad, 4, pad]]))
        labels = torch.tensor([[3, 2, 0], [4, 0, pad]])
        real = labels != pad
        adam.zero_grad()
        linear_cross_entropy(features[real], model.projection(), labels[real], 0.1).total.backward()
        adam.step()
    for embedding in (model.source_embedding, model.target_embedding):
        assert embedding.weight[:-1].abs().sum() > 0
        assert not embedding.weight[-1].any()


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


def test_encoder_and_decoder_may_differ_in_depth(make: Maker, batch: Batch) -> None:
    model = make(encoder_layers=3, decoder_layers=1)
    assert (len(model.encoder), len(model.decoder)) == (3, 1)
    seen = model.attend(*batch)
    assert (len(seen.encoder), len(seen.cross)) == (3, 1)
