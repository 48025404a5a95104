"""Products in bfloat16 beside those in float32: values, gradients, a loss, and when they are used."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from tongsa.config import TrainingSection, TransformerSection
from tongsa.models import products
from tongsa.models.loss import ROWS, linear_cross_entropy
from tongsa.models.products import bfloat16_is_faster, bfloat16_products, linear
from tongsa.models.transformer import Transformer
from tongsa.tasks.contract import reduced_precision, token_loss

ROUNDING = 2**-8
"""Largest relative error of rounding to bfloat16, which has eight bits."""


def relative_error(one: Tensor, other: Tensor) -> float:
    return float((one - other).norm() / other.norm())


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("shape", [(40, 24), (3, 5, 24)])
def test_a_linear_map_and_its_gradients_differ_by_rounding_alone(shape: tuple[int, ...], biased: bool) -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(shape), torch.randn(16, 24)
    inputs = [x, weight, *([torch.randn(16)] if biased else [])]
    found = []
    for function in (linear, nn.functional.linear):
        leaves = [each.clone().requires_grad_() for each in inputs]
        out = function(*leaves)
        assert out.dtype == torch.float32
        (out * torch.linspace(-1, 1, out.numel()).view(out.shape)).sum().backward()
        found.append([out.detach(), *(leaf.grad for leaf in leaves if leaf.grad is not None)])
    assert len(found[0]) == len(inputs) + 1
    for ours, exact in zip(*found, strict=True):
        assert ours.shape == exact.shape
        assert relative_error(ours, exact) < 2 * ROUNDING


def test_only_linear_maps_inside_the_context_are_rounded() -> None:
    torch.manual_seed(0)
    layer, x = nn.Linear(24, 16), torch.randn(5, 24)
    before = layer(x)
    with bfloat16_products():
        inside, product = layer(x), x @ layer.weight.T
    assert not torch.equal(inside, before)
    assert torch.equal(inside, linear(x, layer.weight, layer.bias))
    assert torch.equal(product, x @ layer.weight.T)
    assert torch.equal(layer(x), before)


@pytest.mark.parametrize("tokens", [1, 30, 2 * ROWS["cpu"] + 3])
def test_the_loss_and_its_gradients_differ_by_rounding_alone(tokens: int) -> None:
    torch.manual_seed(0)
    features, table, labels = torch.randn(tokens, 24), torch.randn(41, 24) / 5, torch.randint(0, 40, (tokens,))
    found = []
    for bfloat16 in (True, False):
        h, w = features.clone().requires_grad_(), table.clone().requires_grad_()
        loss = linear_cross_entropy(h, w, labels, 0.1, bfloat16=bfloat16)
        loss.total.backward()
        found.append([loss.total.detach(), loss.log_loss, h.grad, w.grad])
    for ours, exact in zip(*found, strict=True):
        assert isinstance(ours, Tensor)
        assert relative_error(ours, exact) < 3 * ROUNDING


def gradients(section: TrainingSection) -> list[Tensor]:
    """Those of a small Transformer on a fixed batch."""
    torch.manual_seed(0)
    config = TransformerSection(encoder_layers=1, decoder_layers=1, d_model=32, d_ff=64, heads=4, dropout=0.0)
    model = Transformer(config, 40)
    source, target, labels = torch.randint(0, 39, (3, 6, 7))
    with reduced_precision(section, torch.device("cpu")):
        features = model.features(model.encode(source, torch.ones(6, 7, dtype=torch.bool)), target)
    token_loss(section, features.flatten(0, 1), model.projection(), labels.flatten()).total.backward()
    return [parameter.grad for parameter in model.parameters() if parameter.grad is not None]


def test_a_model_trained_in_bfloat16_has_nearly_the_gradients_of_float32() -> None:
    ours, exact = (
        torch.cat([each.flatten() for each in gradients(TrainingSection(precision=name))])
        for name in ("bfloat16", "float32")
    )
    assert 1e-5 < relative_error(ours, exact) < 0.1


def test_the_faster_format_is_found_by_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {torch.bfloat16: 1.0, torch.float32: 2.0}
    monkeypatch.setattr(products, "_seconds", lambda x, weight: times[x.dtype])
    assert bfloat16_is_faster()
    times[torch.bfloat16] = 1.9  # not worth the conversions
    assert not bfloat16_is_faster()


def test_a_library_without_products_in_bfloat16_means_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(x: Tensor, weight: Tensor) -> float:
        if x.dtype == torch.bfloat16:
            raise RuntimeError("could not create a primitive descriptor")
        return 1.0

    monkeypatch.setattr(products, "_seconds", fail)
    assert not bfloat16_is_faster()
