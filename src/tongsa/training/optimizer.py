"""Optimizers over one flat vector: all weights are views of it, and all gradients of another.

Clearing the gradients, summing them over workers, clipping and the step itself are therefore one operation each.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from tongsa.config import TrainingSection


def adam(weights: nn.Parameter, section: TrainingSection) -> torch.optim.Optimizer:
    """Adam (§5.3)."""
    betas = (section.beta1, section.beta2)
    return torch.optim.Adam([weights], lr=0.0, betas=betas, eps=section.epsilon, fused=True)


def sgd(weights: nn.Parameter, section: TrainingSection) -> torch.optim.Optimizer:
    """Plain stochastic gradient descent."""
    return torch.optim.SGD([weights], lr=0.0)


OPTIMIZERS: dict[str, Callable[[nn.Parameter, TrainingSection], torch.optim.Optimizer]] = {"adam": adam, "sgd": sgd}
"""Optimizers by their name in `training.optimizer`."""


class FlatOptimizer:
    def __init__(
        self,
        model: nn.Module,
        section: TrainingSection,
        extra: int = 0,
        zeros: Callable[[int], Tensor] = torch.zeros,
    ) -> None:
        """`extra` numbers are appended to the gradient and summed over the workers with it.

        `zeros` allocates the vector of both on the CPU.
        """
        parameters = list(model.parameters())
        size = sum(parameter.numel() for parameter in parameters)
        first = parameters[0]
        self.weights = nn.Parameter(torch.empty(size, device=first.device, dtype=first.dtype))
        self.message = zeros(size + extra).to(first)
        self.gradient = self.message[:size]
        self.extra = self.message[size:]
        place = 0
        for parameter in parameters:
            span = slice(place, place + parameter.numel())
            with torch.no_grad():
                self.weights[span] = parameter.flatten()
            parameter.data = self.weights.data[span].view_as(parameter)
            parameter.grad = self.gradient[span].view_as(parameter)
            place = span.stop
        self.weights.grad = self.gradient
        self._optimizer = OPTIMIZERS[section.optimizer](self.weights, section)

    def clear(self) -> None:
        """Set gradient and extra numbers to 0."""
        self.message.zero_()

    def clip(self, norm: float, largest: float) -> None:
        """Scale the gradient, whose norm is given, down to the maximum norm (0: no limit)."""
        if largest and norm > largest:
            self.gradient *= largest / norm

    def step(self, rate: float) -> None:
        self._optimizer.param_groups[0]["lr"] = rate
        self._optimizer.step()

    def state(self) -> dict[str, Tensor]:
        """Moments and number of steps, for a checkpoint; empty for an optimizer without state."""
        kept = self._optimizer.state[self.weights]
        return {name: value.clone() for name, value in kept.items() if isinstance(value, Tensor)}

    def load(self, state: dict[str, Tensor]) -> None:
        """Load the state of a checkpoint; a fused optimizer has all of it, the number of steps too, on its device."""
        self._optimizer.state[self.weights] = {name: value.to(self.weights.device) for name, value in state.items()}
