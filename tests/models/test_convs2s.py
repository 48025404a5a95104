"""ConvS2S: what its paper says, beside what holds for every architecture."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from reach import reached
from torch import Tensor, nn
from torch.nn.functional import conv1d, pad

from tongsa.base.errors import RecipeError
from tongsa.config import Recipe
from tongsa.models.contracts import token_mask
from tongsa.models.convolution import Convolution
from tongsa.models.convs2s import ConvS2S, ConvS2SSection, scale_gradient

SMALL = {"encoder_layers": 2, "decoder_layers": 3, "d_model": 16, "hidden": 12, "dropout": 0.0, "max_positions": 40}


def make(**changes: Any) -> ConvS2S:
    torch.manual_seed(1)
    return ConvS2S(ConvS2SSection(**{**SMALL, **changes}), 12).eval()


def sentence(length: int) -> tuple[Tensor, Tensor]:
    return torch.arange(length)[None] % 9 + 2, token_mask(torch.tensor([length]), length)


@pytest.mark.parametrize(("layers", "kernel"), [(1, 3), (2, 3), (2, 5)])
def test_a_block_of_the_encoder_sees_one_kernel_further(layers: int, kernel: int) -> None:
    model = make(encoder_layers=layers, kernel=kernel)
    side = layers * (kernel // 2)
    found = reached(model.source_embedding, lambda: model.encode(*sentence(15))[0][0, 7])  # type: ignore[index]
    assert found == list(range(7 - side, 7 + side + 1))


@pytest.mark.parametrize(("layers", "kernel"), [(1, 3), (3, 3), (2, 5)])
def test_a_block_of_the_decoder_sees_one_kernel_further_back(layers: int, kernel: int) -> None:
    model = make(decoder_layers=layers, kernel=kernel, tied=False)
    target = torch.arange(15)[None] % 9 + 2
    found = reached(model.target_embedding, lambda: model.features(model.encode(*sentence(4)), target)[0, 9])
    assert found == list(range(9 - layers * (kernel - 1), 10))


def test_attention_reaches_the_whole_source_from_every_step() -> None:
    model = make()
    target = torch.tensor([[11, 5, 6]])
    for step in range(3):
        assert reached(
            model.source_embedding, lambda step=step: model.features(model.encode(*sentence(30)), target)[0, step]
        ) == list(range(30))


def convolved(convolution: Convolution, x: Tensor, before: int) -> Tensor:
    """(positions, d) through torch's own convolution and the gate A ⊗ σ(B)."""
    kernel = convolution.linear.weight.unflatten(1, (convolution.width, -1)).transpose(1, 2)
    y = conv1d(pad(x.T, (before, convolution.reach - before))[None], kernel, convolution.linear.bias)[0].T
    a, b = y.chunk(2, dim=1)
    return a * torch.sigmoid(b)


def plainly(model: ConvS2S, source: Tensor, target: Tensor) -> Tensor:
    """The features of one pair, sum by sum as §3 writes them."""
    half, linear = math.sqrt(0.5), torch.nn.functional.linear
    e = model.source_embedding.weight[source] + model.source_positions.weight[: len(source)]
    x = linear(e, model.encoder_in.weight, model.encoder_in.bias)
    for gated in model.encoder:
        x = (convolved(gated.convolution, x, before=1) + x) * half
    z = linear(x, model.encoder_out.weight, model.encoder_out.bias)
    if z.requires_grad:
        z.register_hook(lambda gradient: gradient / len(model.decoder))  # §3.4: not that of e
    g = model.target_embedding.weight[target] + model.target_positions.weight[: len(target)]
    x = linear(g, model.decoder_in.weight, model.decoder_in.bias)
    for block in model.decoder:
        h = convolved(block.gated.convolution, x, before=2)
        rows = []
        for i in range(len(target)):
            d = (block.attention.query(h[i]) + g[i]) * half
            scores = torch.stack([torch.exp(d @ z[j]) for j in range(len(source))])
            a = scores / scores.sum()
            c = sum(a[j] * (z[j] + e[j]) * half for j in range(len(source))) * math.sqrt(len(source))
            rows.append((block.attention.out(c) + h[i]) * half)
        x = (torch.stack(rows) + x) * half
    return linear(x, model.decoder_out.weight, model.decoder_out.bias)


def test_a_batch_gives_what_the_paper_s_sums_give_one_by_one() -> None:
    model = make()
    rows = [([2, 3, 4, 5, 6], [11, 4, 4, 7]), ([8, 9, 0], [11, 3, 2, 5])]
    source = torch.tensor([rows[0][0], rows[1][0] + [11, 11]])
    mask = token_mask(torch.tensor([5, 3]), 5)
    together = model.features(model.encode(source, mask), torch.tensor([target for _, target in rows]))
    for found, (read, target) in zip(together, rows, strict=True):
        torch.testing.assert_close(found, plainly(model, torch.tensor(read), torch.tensor(target)), atol=1e-6, rtol=0)


def test_gradients_are_the_paper_s_and_those_of_the_encoder_divided_by_the_attentions() -> None:
    model = make(tied=False)
    source, target = torch.tensor([2, 3, 4, 5, 6]), torch.tensor([5, 4, 4, 7])
    together = model.features(model.encode(source[None], torch.ones(1, 5, dtype=torch.bool)), target[None])[0]
    found = []
    for features in (together, plainly(model, source, target)):
        model.zero_grad()
        (features * torch.linspace(-1, 1, features.numel()).view_as(features)).sum().backward()
        found.append({name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None})
    assert found[0].keys() == found[1].keys() >= {"encoder_out.weight", "source_positions.weight"}
    for name, expected in found[1].items():
        torch.testing.assert_close(found[0][name], expected, atol=1e-5, rtol=1e-4, msg=name)


def test_attention_can_be_had_of_every_decoder_layer_and_changes_nothing() -> None:
    model = make()
    source, mask = sentence(6)
    target = torch.tensor([[11, 5, 6, 7]])
    seen: list[Tensor] = []
    memory = model.encode(source, mask)
    torch.testing.assert_close(
        model._decode(memory, target, seen),  # type: ignore[arg-type]
        model.features(model.encode(source, mask), target),
        atol=1e-6,
        rtol=0,
    )
    assert [tuple(weights.shape) for weights in model.attend(source, mask, target).cross] == 3 * [(1, 1, 4, 6)]
    assert all(map(torch.equal, seen, model.attend(source, mask, target).cross))


@torch.no_grad()
def test_a_deep_stack_keeps_the_size_of_its_signal() -> None:
    """§3.4, §3.5: scaled sums and the initialisation hold the variance through all blocks."""
    model = make(encoder_layers=20, decoder_layers=1, d_model=64, hidden=64)
    sizes: list[float] = []
    for gated in model.encoder:
        gated.register_forward_hook(lambda module, given, y: sizes.append(float(given[0].std())))
    model.encode(*sentence(40))
    assert 0.5 < sizes[-1] / sizes[0] < 2


def test_the_encoder_takes_the_mean_of_the_gradients_of_all_attentions() -> None:
    x = torch.randn(3, requires_grad=True)
    y = scale_gradient(x, 0.25)
    assert torch.equal(y, x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert torch.equal(gradient, torch.full((3,), 0.25))


@torch.no_grad()
def test_embeddings_begin_as_in_the_paper_and_pad_is_zero() -> None:
    model = make(d_model=256)
    assert float(model.source_embedding.weight[:-1].std()) == pytest.approx(0.1, rel=0.05)
    assert float(model.source_positions.weight.std()) == pytest.approx(0.1, rel=0.05)
    assert not model.source_embedding.weight[-1].any()
    convolution = model.encoder[0].convolution.linear  # type: ignore[union-attr]
    assert float(convolution.weight.std()) == pytest.approx(math.sqrt(4 / 36), rel=0.05)  # type: ignore[operator, arg-type]


@torch.no_grad()
def test_dropout_is_on_embeddings_on_the_input_of_every_convolution_and_on_the_output() -> None:
    """§4.2; and nowhere in evaluation."""
    p = 0.25
    model = make(dropout=p, d_model=64, hidden=48)
    places: list[nn.Module] = [module for module in model.modules() if isinstance(module, Convolution)]
    places += [model.encoder_in, model.decoder_in]
    assert len(places) == 2 + 3 + 2
    dropped: list[Tensor] = []
    for place in places:
        place.register_forward_pre_hook(lambda module, given: dropped.append(given[0]))
    target = torch.arange(20)[None] % 9 + 2
    output = model.features(model.encode(*sentence(30)), target)
    assert not any((x == 0).any() for x in [*dropped, output])
    dropped.clear()
    output = model.train().features(model.encode(*sentence(30)), target)
    assert len(dropped) == len(places)
    for x in [*dropped, output]:
        assert float((x == 0).float().mean()) == pytest.approx(p, abs=0.05)
    # What is kept weighs more, so that the mean stays: the first input is e, which nothing random came before.
    e = model.source_embedding.weight[sentence(30)[0]] + model.source_positions.weight[:30]
    kept = dropped[0] != 0
    torch.testing.assert_close(dropped[0][kept], e[kept] / (1 - p))


def test_positions_say_how_long_a_sequence_may_be() -> None:
    model = make(max_positions=9)
    assert model.max_length == 9 == model.config.longest
    assert model(*sentence(9), torch.tensor([[11, *[3] * 8]])).shape == (1, 9, 11)


def test_an_even_kernel_is_refused() -> None:
    with pytest.raises(RecipeError, match="kernel is 4") as error:
        Recipe.from_values({"model": {"architecture": "convs2s", "kernel": 4}}, "a test")
    assert "odd" in str(error.value)
