"""Optimizers over one flat vector: all weights are views of it, and all gradients of another.

Clearing the gradients, summing them over workers, clipping and the step itself are therefore one operation each.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.optim.adam import adam as torch_adam

from tongsa.config import TrainingSection

State = dict[str, Tensor]
"""What an optimizer keeps from step to step, by torch's names; empty before the first step."""


def adam(weights: nn.Parameter, section: TrainingSection, state: State, rate: float) -> None:
    """Take a step of Adam (§5.3), as `torch.optim.Adam(fused=True)` does, bit for bit.

    That class imports torch's compiler, which takes a second in every process that trains; its function does not.
    """
    if not state:
        state["step"] = torch.zeros((), device=weights.device)
        state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(weights), torch.zeros_like(weights)
    assert weights.grad is not None
    torch_adam(
        [weights],
        [weights.grad],
        [state["exp_avg"]],
        [state["exp_avg_sq"]],
        [],
        [state["step"]],
        fused=True,
        amsgrad=False,
        beta1=section.beta1,
        beta2=section.beta2,
        lr=rate,
        weight_decay=0.0,
        eps=section.epsilon,
        maximize=False,
    )


def sgd(weights: nn.Parameter, section: TrainingSection, state: State, rate: float) -> None:
    """Take a step of plain stochastic gradient descent."""
    assert weights.grad is not None
    weights.add_(weights.grad, alpha=-rate)


OPTIMIZERS: dict[str, Callable[[nn.Parameter, TrainingSection, State, float], None]] = {"adam": adam, "sgd": sgd}
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
        self._section = section
        self._state: State = {}

    def clear(self) -> None:
        """Set gradient and extra numbers to 0."""
        self.message.zero_()

    def clip(self, norm: float, largest: float) -> None:
        """Scale the gradient, whose norm is given, down to the maximum norm (0: no limit)."""
        if largest and norm > largest:
            self.gradient *= largest / norm

    def step(self, rate: float) -> None:
        with torch.no_grad():
            OPTIMIZERS[self._section.optimizer](self.weights, self._section, self._state, rate)

    def state(self) -> State:
        """Moments and number of steps, for a checkpoint; empty for an optimizer without state."""
        return {name: value.clone() for name, value in self._state.items()}

    def load(self, state: State) -> None:
        """Load the state of a checkpoint; a fused optimizer has all of it, the number of steps too, on its device."""
        self._state = {name: value.to(self.weights.device) for name, value in state.items()}
