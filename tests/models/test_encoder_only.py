"""The paper's encoder alone: the same states as in the whole Transformer, whatever stands in the padding."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tongsa.config import TransformerSection
from tongsa.models import build_a
from tongsa.models.contracts import Encoder, token_mask
from tongsa.models.encoder_only import EncoderOnly, EncoderOnlySection
from tongsa.models.transformer import Transformer

PAD = 11
SMALL: dict[str, Any] = {"d_model": 16, "d_ff": 24, "heads": 4, "dropout": 0.0}
VARIANTS = [{}, {"norm": "pre"}, {"positions": "learned", "max_positions": 20}, {"d_k": 3, "d_v": 5}]
variants = pytest.mark.parametrize("keys", VARIANTS, ids=str)
token = st.integers(0, 10)


def make(keys: dict[str, Any], **more: Any) -> EncoderOnly:
    torch.manual_seed(1)
    model = build_a(Encoder, EncoderOnlySection(layers=2, **{**SMALL, **keys, **more}), PAD + 1)
    assert isinstance(model, EncoderOnly)
    return model.eval()


@variants
def test_it_gives_the_states_of_a_transformers_encoder_with_the_same_weights(keys: dict[str, Any]) -> None:
    model = make(keys)
    whole = Transformer(TransformerSection(encoder_layers=2, decoder_layers=1, **{**SMALL, **keys}), PAD + 1).eval()
    names = {"embedding.": "source_embedding.", "positions.": "source_positions.", "norm.": "encoder_norm."}
    weights = whole.state_dict()
    for name, value in model.state_dict().items():
        for ours, theirs in names.items():
            if name.startswith(ours):
                name = theirs + name.removeprefix(ours)
        weights[name] = value
    whole.load_state_dict(weights)
    source = torch.tensor([[2, 3, 4, 5], [6, 7, PAD, PAD]])
    mask = token_mask(torch.tensor([4, 2]), 4)
    assert torch.equal(model.encode(source, mask), whole.encode(source, mask)[0])


@variants
@settings(max_examples=10, deadline=None)
@given(rows=st.lists(st.lists(token, min_size=1, max_size=6), min_size=1, max_size=5), filling=token)
def test_padding_and_batch_mates_change_nothing(keys: dict[str, Any], rows: list[list[int]], filling: int) -> None:
    model = make(keys)
    width = max(map(len, rows)) + 1
    source = torch.tensor([[*row, *[filling] * (width - len(row))] for row in rows])
    together = model.encode(source, token_mask(torch.tensor([len(row) for row in rows]), width))
    assert together.shape == (len(rows), width, 16)
    for i, row in enumerate(rows):
        alone = model.encode(torch.tensor([row]), torch.ones(1, len(row), dtype=torch.bool))[0]
        torch.testing.assert_close(together[i, : len(row)], alone, atol=1e-5, rtol=0)


@variants
def test_a_state_sees_every_position_before_and_after_it(keys: dict[str, Any]) -> None:
    model = make(keys)
    mask = torch.ones(1, 4, dtype=torch.bool)
    before = model.encode(torch.tensor([[2, 3, 4, 5]]), mask)
    for place in range(4):
        other = torch.tensor([[2, 3, 4, 5]])
        other[0, place] = 9
        changed = (model.encode(other, mask) - before).abs().amax(dim=-1)[0]
        assert bool((changed > 1e-4).all())


def test_attention_is_a_distribution_over_what_is_no_padding() -> None:
    mask = token_mask(torch.tensor([4, 2]), 4)
    layers = make({}).attend(torch.tensor([[2, 3, 4, 5], [6, 7, PAD, PAD]]), mask)
    assert [tuple(weights.shape) for weights in layers] == 2 * [(2, 4, 4, 4)]
    for weights in layers:
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 4, 4))
        assert not weights.transpose(1, 3)[~mask].any()


def test_dropout_acts_in_training_only() -> None:
    model = make({}, dropout=0.3)
    source, mask = torch.tensor([[2, 3, 4]]), torch.ones(1, 3, dtype=torch.bool)
    assert torch.equal(model.encode(source, mask), model.encode(source, mask))
    model.train()
    assert not torch.equal(model.encode(source, mask), model.encode(source, mask))
