"""Adam (§5.3) over one flat vector: all weights are views of it, and all gradients of another.

So clearing the gradients, summing them over workers, clipping and the step itself are one operation each.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from tongsa.config import TrainingSection


class FlatAdam:
    def __init__(
        self,
        model: nn.Module,
        section: TrainingSection,
        extra: int = 0,
        zeros: Callable[[int], Tensor] = torch.zeros,
    ) -> None:
        """`extra` numbers stand behind the gradient, to be summed over the workers along with it.

        `zeros` makes the vector of both, for the CPU.
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
        betas = (section.beta1, section.beta2)
        self._adam = torch.optim.Adam([self.weights], lr=0.0, betas=betas, eps=section.epsilon, fused=True)

    def clear(self) -> None:
        self.message.zero_()

    def step(self, rate: float) -> None:
        self._adam.param_groups[0]["lr"] = rate
        self._adam.step()

    def state(self) -> dict[str, Tensor]:
        """The moments and the count of steps, for a checkpoint."""
        return {name: value.clone() for name, value in self._adam.state[self.weights].items()}

    def load(self, state: dict[str, Tensor]) -> None:
        self._adam.state[self.weights] = {
            name: value if name == "step" else value.to(self.weights.device) for name, value in state.items()
        }
