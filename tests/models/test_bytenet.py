"""ByteNet: what its paper says, beside what holds for every architecture."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from reach import reached
from torch import Tensor, nn
from torch.nn.functional import conv1d, layer_norm, linear, pad, relu

from tongsa.config.presets import load_recipe
from tongsa.models.bytenet import ByteNet, ByteNetSection, ResidualBlock
from tongsa.models.contracts import token_mask

SMALL = {"d_model": 16, "sets": 1, "max_dilation": 4, "dropout": 0.0}


def make(**changes: Any) -> ByteNet:
    torch.manual_seed(1)
    return ByteNet(ByteNetSection(**{**SMALL, **changes}), 12).eval()


def sentence(length: int) -> tuple[Tensor, Tensor]:
    return torch.arange(length)[None] % 9 + 2, token_mask(torch.tensor([length]), length)


def test_dilations_double_from_1_to_16_in_every_set() -> None:
    assert ByteNetSection(sets=2).dilations == 2 * [1, 2, 4, 8, 16]
    assert len(ByteNetSection().dilations) == 30, "of the paper's model"
    assert [block.dilated.dilation for block in make(sets=2).decoder] == [1, 2, 4, 1, 2, 4]


@pytest.mark.parametrize(("sets", "dilation", "side"), [(1, 1, 1), (1, 4, 7), (2, 4, 14), (1, 16, 31)])
def test_a_column_of_the_encoder_sees_the_sum_of_the_dilations_to_each_side(
    sets: int, dilation: int, side: int
) -> None:
    model = make(sets=sets, max_dilation=dilation, unfold_a=1.0)
    found = reached(model.source_embedding, lambda: model.encode(*sentence(80))[0, 40])
    assert found == list(range(40 - side, 40 + side + 1))


@pytest.mark.parametrize(("sets", "dilation", "back"), [(1, 1, 2), (1, 4, 14), (2, 4, 28), (1, 16, 62)])
def test_a_step_of_the_decoder_sees_twice_the_sum_of_the_dilations_back(sets: int, dilation: int, back: int) -> None:
    model = make(sets=sets, max_dilation=dilation, tied=False)
    target = torch.arange(80)[None] % 9 + 2
    found = reached(model.target_embedding, lambda: model.features(model.encode(*sentence(3)), target)[0, 70])
    assert found == list(range(70 - back, 71))


def test_the_source_reaches_a_step_through_the_columns_below_it_and_before_it() -> None:
    model = make(max_dilation=2)  # 3 to each side in the encoder, 6 back in the decoder
    target = torch.arange(30)[None] % 9 + 2
    found = reached(model.source_embedding, lambda: model.features(model.encode(*sentence(30)), target)[0, 15])
    assert found == list(range(15 - 6 - 3, 15 + 3 + 1))


def test_the_encoder_unfolds_to_a_bound_of_the_target_length_and_is_zero_beyond() -> None:
    model = make(unfold_a=1.2, unfold_b=2)
    source = torch.tensor([[2, 3, 4, 5, 6, 7, 8, 9, 10, 0], [5, 0, *[11] * 8]])
    mask = token_mask(torch.tensor([10, 2]), 10)
    columns = model.encode(source, mask)
    assert columns.shape == (2, 14, 16)
    assert bool(columns[0].abs().sum(dim=-1).all())
    assert bool(columns[1, :5].abs().sum(dim=-1).all()), "ceil(1.2 * 2) + 2 columns"
    assert not columns[1, 5:].any()


def test_a_target_may_grow_longer_than_the_columns_it_stands_on() -> None:
    model = make(unfold_a=1.0)
    source, mask = sentence(3)
    target = torch.tensor([[11, *[4, 5, 6] * 3]])
    whole = model(source, mask, target)
    state = model.start(model.encode(source, mask))
    for place, tokens in enumerate(target.T):
        logits, state = model.step(tokens, state)
        torch.testing.assert_close(logits, whole[:, place], atol=1e-5, rtol=0)


@pytest.mark.parametrize("masked", [True, False])
def test_a_block_is_three_normalised_convolutions_around_a_residual(masked: bool) -> None:
    torch.manual_seed(1)
    block = ResidualBlock(ByteNetSection(**SMALL), 2, masked=masked).eval()  # type: ignore[arg-type]
    for parameter in block.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    x = torch.randn(2, 9, 16)

    def normal(x: Tensor, number: int) -> Tensor:
        norm = block.norms[number]
        return relu(layer_norm(x, (x.shape[-1],), norm.weight, norm.bias))  # type: ignore[arg-type]

    y = normal(linear(normal(x, 0), block.narrow.weight, block.narrow.bias), 1).transpose(1, 2)
    kernel = block.dilated.linear.weight.unflatten(1, (3, 8)).transpose(1, 2)
    y = conv1d(pad(y, (4, 0) if masked else (2, 2)), kernel, block.dilated.linear.bias, dilation=2).transpose(1, 2)
    y = x + linear(normal(y, 2), block.widen.weight, block.widen.bias)
    torch.testing.assert_close(block(x, None), y, atol=1e-5, rtol=0)


@torch.no_grad()
def test_dropout_is_on_embeddings_and_on_what_every_block_adds() -> None:
    """And nowhere in evaluation."""
    p = 0.25
    model = make(dropout=p, d_model=64, sets=2, tied=False)
    inputs: dict[str, list[Tensor]] = {"encoder": [], "decoder": []}
    added: list[Tensor] = []
    last: list[Tensor] = []

    def watch(stack: str, block: nn.Module) -> None:
        block.register_forward_pre_hook(lambda module, given: inputs[stack].append(given[0]))
        block.register_forward_hook(lambda module, given, y: added.append(y - given[0]))
        block.register_forward_hook(lambda module, given, y: last.append(y) if stack == "encoder" else None)

    for stack, blocks in (("encoder", model.encoder), ("decoder", model.decoder)):
        for block in blocks:
            watch(stack, block)

    def dropped() -> list[Tensor]:
        """Everything that dropout may fall on: embeddings of both sides, what blocks add."""
        for seen in (*inputs.values(), added, last):
            seen.clear()
        target = torch.arange(20)[None] % 9 + 2
        model.features(model.encode(*sentence(30)), target)
        assert len(added) == 2 * len(model.decoder) == 12
        return [inputs["encoder"][0][:, :30], inputs["decoder"][0] - last[-1][:, :20], *(y[:, :20] for y in added)]

    assert all(float((x == 0).float().mean()) < 0.01 for x in dropped())
    model.train()
    read, written, *rest = dropped()
    for x in (read, written, *rest):
        assert float((x == 0).float().mean()) == pytest.approx(p, abs=0.05)
    e = model.source_embedding.weight[sentence(30)[0]] * 8  # sqrt(d_model)
    torch.testing.assert_close(read[read != 0], e[read != 0] / (1 - p))


def test_the_preset_of_the_paper_has_its_scale() -> None:
    """§6: 30 + 30 blocks, d = 800, kernels of 3, dilations up to 16; counted without memory for the weights."""
    section = load_recipe("bytenet-paper", {}).model
    assert isinstance(section, ByteNetSection)
    with torch.device("meta"):
        model = ByteNet(section, 324, 297)
    assert (len(model.encoder), len(model.decoder)) == (30, 30)
    assert (section.inner, section.kernel, max(section.dilations), section.unfold_a) == (800, 3, 16, 1.2)
    a_block = 1600 * 800 + 3 * 800 * 800 + 800 * 1600  # its three convolutions, without biases and norms
    assert sum(parameter.numel() for parameter in model.parameters()) == pytest.approx(60 * a_block, rel=0.02)
