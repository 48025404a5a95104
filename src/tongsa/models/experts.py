"""Conditional computation: a mixture of experts in the place of a feed-forward network.

Shazeer et al. 2017, "Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer" (1701.06538),
is the MoE of the paper's Table 2 and §2. There the layer is between those of an LSTM; here it is in the Transformer's,
where the feed-forward network was. Equation numbers are theirs.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

W_IMPORTANCE = W_LOAD = 0.1
"""Weights of the losses that keep experts in use (their Table 6, where 0.1 and 0.1 are among the best)."""


class MixtureOfExperts(nn.Module):
    """y = sum over i of G(x)_i E_i(x)                                                                      Eq. 1

    G(x) = softmax(KeepTopK(H(x), k)),  H(x)_i = (x W_g)_i + StandardNormal() softplus((x W_noise)_i)    Eq. 3, 4

    Only the k experts with a G(x)_i above 0 are computed. Without training there is no noise.
    """

    def __init__(self, experts: list[nn.Module], d_model: int, used: int) -> None:
        super().__init__()
        self.experts = nn.ModuleList(experts)
        self.used = used
        # Both begin as zeros (appendix A): no expert is preferred before the losses have an effect.
        self.w_gate = nn.Parameter(torch.zeros(d_model, len(experts)))
        self.w_noise = nn.Parameter(torch.zeros(d_model, len(experts)))

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(0, -2)  # (tokens, d_model)
        clean, spread = tokens @ self.w_gate, softplus(tokens @ self.w_noise)
        noisy = clean + torch.randn_like(clean) * spread if self.training else clean
        best, chosen = noisy.topk(self.used, dim=-1)
        gates = torch.zeros_like(noisy).scatter(1, chosen, torch.softmax(best, dim=-1))
        if self.training and torch.is_grad_enabled():
            balance = W_IMPORTANCE * squared_variation(gates.sum(dim=0))  # Eq. 6, 7
            if self.used < len(self.experts):
                balance = balance + W_LOAD * squared_variation(load(clean, spread, noisy, self.used))
            # The loss of a batch is the mean over its tokens of what the trainer sums over them.
            tokens = _WithLoss.apply(tokens, balance * len(tokens))  # type: ignore[no-untyped-call]
        return self._mix(tokens, gates).view_as(x)

    def _mix(self, tokens: Tensor, gates: Tensor) -> Tensor:
        out = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            rows = gates[:, number].nonzero()[:, 0]
            if len(rows):
                out = out.index_add(0, rows, gates[rows, number, None] * expert(tokens[rows]))
        return out


def squared_variation(values: Tensor) -> Tensor:
    """CV(values)^2: variance over squared mean."""
    return values.var(unbiased=False) / (values.mean() ** 2 + 1e-10)


def load(clean: Tensor, spread: Tensor, noisy: Tensor, used: int) -> Tensor:
    """How many tokens each expert can expect if its noise is drawn again (experts): a smooth count          Eq. 8 to 10

    P(x, i) = Phi(((x W_g)_i - kth_excluding(H(x), k, i)) / softplus((x W_noise)_i))
    """
    best = noisy.topk(used + 1, dim=-1).values
    kth, next_one = best[:, used - 1, None], best[:, used, None]
    threshold = torch.where(noisy >= kth, next_one, kth)  # the k-th highest of the others
    chances: Tensor = torch.special.ndtr((clean - threshold) / spread)
    return chances.sum(dim=0)


class _WithLoss(torch.autograd.Function):
    """The identity; in the backward pass a loss takes part that is not in what the model returns."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, loss: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        (gradient,) = gradients
        return gradient, gradient.new_ones(())
