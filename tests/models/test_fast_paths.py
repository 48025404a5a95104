"""Every fast path of training beside its readable twin: values, gradients, and a whole training."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from tongsa.config import TrainingSection, TransformerSection
from tongsa.models import layers
from tongsa.models.attention import MultiHeadAttention, attention
from tongsa.models.contracts import causal_mask, token_mask
from tongsa.models.dropout import plain_dropout_add_norm
from tongsa.models.loss import linear_cross_entropy, smoothed_cross_entropy
from tongsa.models.transformer import Transformer
from tongsa.training.optimizer import FlatOptimizer

PAD = 40
SMOOTHING = 0.1
UPDATES = 50
MODEL = TransformerSection(encoder_layers=2, decoder_layers=2, d_model=32, d_ff=64, heads=4, dropout=0.0)


def gradients(function: Callable[..., Tensor], *inputs: Tensor) -> list[Tensor]:
    """The value of a function, and the gradient of a weighted sum of it for each input."""
    leaves = [each.clone().requires_grad_() for each in inputs]
    out = function(*leaves)
    weights = torch.linspace(-1, 1, out.numel()).view(out.shape)
    (out * weights).sum().backward()
    found = [leaf.grad for leaf in leaves if leaf.grad is not None]
    assert len(found) == len(leaves)
    return [out.detach(), *found]


def assert_twins(fast: list[Tensor], readable: list[Tensor], tolerance: float = 1e-5) -> None:
    for one, other in zip(fast, readable, strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("kind", ["unmasked", "padded", "causal"])
def test_the_kernel_of_torch_equals_the_attention_of_the_paper(kind: str) -> None:
    torch.manual_seed(0)
    masks = {
        "unmasked": None,
        "padded": token_mask(torch.tensor([6, 3]), 6)[:, None, None, :],
        "causal": causal_mask(6, torch.device("cpu")),
    }
    q, k, v = (torch.randn(2, 4, 6, 8) for _ in range(3))
    kernel = torch.nn.functional.scaled_dot_product_attention
    fast = gradients(lambda q, k, v: kernel(q, k, v, masks[kind]), q, k, v)
    assert_twins(fast, gradients(lambda q, k, v: attention(q, k, v, masks[kind]), q, k, v))


def test_weights_that_somebody_wants_to_see_change_nothing() -> None:
    torch.manual_seed(0)
    heads = MultiHeadAttention(16, 4, 4, 4)
    x, memory = torch.randn(2, 5, 16), torch.randn(2, 7, 16)
    mask = token_mask(torch.tensor([7, 4]), 7)[:, None, None, :]
    fast = gradients(lambda x, memory: heads(x, memory, mask), x, memory)
    assert_twins(fast, gradients(lambda x, memory: heads(x, memory, mask, []), x, memory))


def test_projections_as_one_product_equal_one_product_each() -> None:
    """Also where keys and values are not equally wide."""
    torch.manual_seed(0)
    heads = MultiHeadAttention(16, 4, 3, 5)
    for parameter in heads.parameters():
        nn.init.normal_(parameter)
    maps = (heads.w_q, heads.w_k, heads.w_v)

    def each_alone(x: Tensor) -> Tensor:
        return torch.cat([linear(x, each.weight, each.bias) for each in maps], dim=-1)

    def at_once(x: Tensor) -> Tensor:
        return torch.cat([part.transpose(1, 2).flatten(2) for part in heads.queries_keys_values(x)], dim=-1)

    results = []
    for function in (at_once, each_alone):
        heads.zero_grad()
        found = gradients(function, torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(1)))
        results.append(found + [each.weight.grad for each in maps] + [each.bias.grad for each in maps])
    assert_twins(*results)


def some_batch(number: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Source, its mask, what the decoder reads and what it should write: the source backwards. Lengths differ."""
    random = torch.Generator().manual_seed(number)
    lengths = torch.randint(3, 9, (12,), generator=random)
    mask = token_mask(lengths, 8)
    source = torch.randint(1, PAD, (12, 8), generator=random).masked_fill(~mask, PAD)
    labels = source.flip(1)
    target = torch.cat([torch.full((12, 1), PAD), labels[:, :-1]], dim=1)
    return source, mask, target, labels


def fast_training() -> list[float]:
    """As training does it: fused sublayers, a loss without logits, one flat vector of weights."""
    model = Transformer(MODEL, PAD + 1).train()
    adam = FlatOptimizer(model, TrainingSection())
    losses = []
    for number in range(UPDATES):
        source, mask, target, labels = some_batch(number)
        real = labels != PAD
        adam.clear()
        features = model.features(model.encode(source, mask), target)
        loss = linear_cross_entropy(features[real], model.projection(), labels[real], SMOOTHING).total
        loss.backward()
        adam.gradient /= real.sum()
        adam.step(0.003)
        losses.append(float(loss.detach() / real.sum()))
    return losses


def readable_training(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The equations one by one: softmax of all scores, sum, then norm, all logits at once, Adam of each matrix."""
    monkeypatch.setattr(layers, "dropout_add_norm", plain_dropout_add_norm)
    monkeypatch.setattr("tongsa.models.attention.scaled_dot_product_attention", attention)
    model = Transformer(MODEL, PAD + 1).train()
    section = TrainingSection()
    adam = torch.optim.Adam(
        model.parameters(), lr=0.003, betas=(section.beta1, section.beta2), eps=section.epsilon, foreach=False
    )
    losses = []
    for number in range(UPDATES):
        source, mask, target, labels = some_batch(number)
        real = labels != PAD
        adam.zero_grad()
        logits = model(source, mask, target)
        loss = smoothed_cross_entropy(logits[real], labels[real], SMOOTHING).total / real.sum()
        loss.backward()
        adam.step()
        losses.append(float(loss.detach()))
    return losses


def test_fifty_updates_have_the_losses_of_the_readable_path(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(5)
    fast = fast_training()
    torch.manual_seed(5)
    readable = readable_training(monkeypatch)
    assert fast == pytest.approx(readable, abs=1e-4)
    assert fast[-1] < fast[0] - 0.3, "nothing was learnt, so nothing was compared"
