"""The mixture of experts against its equations, written out in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from tongsa.base.errors import RecipeError
from tongsa.config import Recipe, TransformerSection
from tongsa.models.experts import MixtureOfExperts, load, squared_variation
from tongsa.models.transformer import Transformer


def mixture(experts: int = 4, used: int = 2) -> MixtureOfExperts:
    torch.manual_seed(1)
    made = MixtureOfExperts([nn.Linear(6, 6) for _ in range(experts)], 6, used)
    nn.init.normal_(made.w_gate)
    nn.init.normal_(made.w_noise)
    return made


@pytest.mark.parametrize("used", [1, 2, 4])
def test_the_best_experts_are_mixed_by_a_softmax_over_them(used: int) -> None:
    made = mixture(used=used).eval()
    x = torch.randn(2, 3, 6)
    gate = made.w_gate.detach().double().numpy()
    expected = np.zeros((2, 3, 6))
    for place in np.ndindex(2, 3):
        token = x[place].double().numpy()
        scores = token @ gate
        chosen = np.argsort(scores)[-used:]
        powers = np.exp(scores[chosen])
        for power, number in zip(powers / powers.sum(), chosen, strict=True):
            linear: Any = made.experts[number]
            expected[place] += power * (linear.weight.detach().double().numpy() @ token + linear.bias.detach().numpy())
    np.testing.assert_allclose(made(x).detach().numpy(), expected, atol=1e-5)


def work(experts: int) -> int:
    made, x = mixture(experts).eval(), torch.randn(50, 1, 6)
    with FlopCounterMode(display=False) as counter:
        made(x)
    gate = 2 * 2 * 50 * 6 * experts
    return counter.get_total_flops() - gate


def test_more_experts_cost_no_more_computation() -> None:
    """Conditional computation: two networks for each token, however many there are."""
    assert work(4) == work(16) == 2 * 50 * 2 * 6 * 6


def test_load_is_the_probability_of_being_chosen_when_the_noise_is_drawn_again() -> None:
    torch.manual_seed(2)
    clean, spread = torch.randn(1, 4).double(), torch.rand(1, 4).double() + 0.5
    noise = torch.randn(1, 4).double()
    noisy = clean + noise * spread
    found = load(clean, spread, noisy, used=2)
    for number in range(4):
        others = sorted((float(noisy[0, j]) for j in range(4) if j != number), reverse=True)
        again = clean[0, number] + torch.randn(200_000).double() * spread[0, number]
        assert float(found[number]) == pytest.approx(float((again > others[1]).double().mean()), abs=0.01)


def test_the_variation_of_equal_values_is_zero() -> None:
    assert float(squared_variation(torch.tensor([3.0, 3.0]))) == pytest.approx(0)
    assert float(squared_variation(torch.tensor([1.0, 3.0]))) == pytest.approx(0.25)  # variance 1, mean 2


def test_experts_that_are_used_too_often_are_used_less_after_some_updates() -> None:
    made = mixture()
    with torch.no_grad():
        made.w_gate[:, 0] += 3
    x = torch.randn(200, 1, 6).abs()
    adam = torch.optim.Adam(made.parameters(), lr=0.05)

    def share(number: int) -> float:
        made.eval()
        scores: Tensor = x.flatten(0, 1) @ made.w_gate
        return float((scores.topk(2).indices == number).any(dim=1).float().mean())

    assert share(0) > 0.95
    for _ in range(60):
        made.train()
        adam.zero_grad()
        (made(x) * 0).sum().backward()  # the balancing losses alone
        adam.step()
    assert share(0) < 0.8


def test_without_training_there_is_no_noise_and_in_training_there_is() -> None:
    made, x = mixture(), torch.randn(5, 1, 6)
    assert torch.equal(made.eval()(x), made(x))
    made.train()
    assert not torch.equal(made(x), made(x))


def test_a_transformer_of_experts_decodes_as_it_reads() -> None:
    torch.manual_seed(1)
    section = TransformerSection(
        d_model=8, d_ff=12, heads=2, encoder_layers=1, decoder_layers=2, feed_forward="experts", experts=3
    )
    model = Transformer(section, 12).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    source, mask = torch.tensor([[2, 3, 4]]), torch.ones(1, 3, dtype=torch.bool)
    target = torch.tensor([[11, 5, 6]])
    state = model.start(model.encode(source, mask))
    found = []
    for tokens in target.T:
        logits, state = model.step(tokens, state)
        found.append(logits)
    torch.testing.assert_close(torch.stack(found, dim=1), model(source, mask, target), atol=1e-5, rtol=1e-4)


def test_more_used_than_there_are_is_refused() -> None:
    with pytest.raises(RecipeError, match="there are 2 experts"):
        Recipe.from_values({"model": {"feed_forward": "experts", "experts": 2, "experts_used": 3}}, "a test")
