"""Optimizers over one flat vector: all weights are views of it, and all gradients of another.

Clearing the gradients, summing them over workers, clipping and the step itself are therefore one operation each.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.optim.adam import adam as torch_adam

from tongsa.config import TrainingSection
from tongsa.training.workers import ProcessGroup

State = dict[str, Tensor]
"""What an optimizer keeps from step to step, by torch's names; empty before the first step."""


class Matrices(NamedTuple):
    """Weights of linear maps of one shape, side by side in the vector of all weights."""

    span: slice
    shape: tuple[int, int, int]
    """Number of matrices, rows, columns."""

    def of(self, vector: Tensor) -> Tensor:
        return vector[self.span].view(self.shape)


class FlatOptimizer:
    """Adam (§5.3) or plain gradient descent of all weights; or Muon of matrices, and Adam of everything else."""

    def __init__(
        self, model: nn.Module, section: TrainingSection, extra: int = 0, group: ProcessGroup | None = None
    ) -> None:
        """`extra` numbers are appended to the gradient and summed over the workers of the group with it."""
        self._section, self._group = section, group or ProcessGroup()
        parameters = list(model.parameters())
        self._maps = _linear_maps(model)
        self._matrices: list[Matrices] = []
        if section.optimizer == "muon":
            parameters, self._matrices = _matrices_first(model)
        size = sum(parameter.numel() for parameter in parameters)
        first = parameters[0]
        self.weights = nn.Parameter(torch.empty(size, device=first.device, dtype=first.dtype))
        self.message = self._group.zeros(size + extra).to(first)
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
        self._state: State = {}

    def clear(self) -> None:
        """Set gradient and extra numbers to 0."""
        self.message.zero_()

    def clip(self, norm: float, largest: float) -> None:
        """Scale the gradient, whose norm is given, down to the maximum norm (0: no limit)."""
        if largest and norm > largest:
            self.gradient *= largest / norm

    def step(self, rate: float) -> None:
        """Called by all workers together; the gradient is not valid afterwards."""
        with torch.no_grad():
            if self._section.weight_decay:
                for weight in self._maps:
                    weight.mul_(1 - rate * self._section.weight_decay)
            if self._section.optimizer == "sgd":
                self.weights.add_(self.gradient, alpha=-rate)
                return
            rest = slice(self._matrices[-1].span.stop if self._matrices else 0, None)
            adam(self.weights[rest], self.gradient[rest], self._section, self._state, rate)
            if self._matrices:
                self._muon(slice(0, rest.start), rate)

    def _muon(self, span: slice, rate: float) -> None:
        """Step along the nearest orthogonal matrix of the averaged gradient of each matrix (Jordan et al. 2024).

        All directions of a matrix then learn at one rate, also those whose gradients are small. Workers on one machine
        share the matrices among them.
        """
        averaged = self._state.setdefault("momentum", torch.zeros_like(self.gradient[span]))
        averaged.mul_(MOMENTUM).add_(self.gradient[span])
        ahead = self.gradient[span].add(averaged, alpha=MOMENTUM)  # as Nesterov
        narrow = self._section.precision == "bfloat16"
        rank, size = (self._group.rank, self._group.size) if self._group.one_machine else (0, 1)
        self.clear()
        for matrices in self._matrices:
            mine = matrices.of(ahead)[rank::size]
            if len(mine):
                direction = orthogonal(mine.bfloat16() if narrow else mine)
                matrices.of(self.message)[rank::size] = direction * (MUON_STEP * math.sqrt(max(direction.shape[1:])))
        if size > 1:
            self._group.sum(self.message)
        self.weights[span].sub_(self.message[span], alpha=rate)

    def state(self) -> State:
        """Moments and number of steps, for a checkpoint; empty for an optimizer without state."""
        return {name: value.clone() for name, value in self._state.items()}

    def load(self, state: State) -> None:
        """Load the state of a checkpoint; a fused optimizer has all of it, the number of steps too, on its device."""
        self._state = {name: value.to(self.weights.device) for name, value in state.items()}


def adam(weights: Tensor, gradient: Tensor, section: TrainingSection, state: State, rate: float) -> None:
    """Take a step of Adam (§5.3), as `torch.optim.Adam(fused=True)` does, bit for bit.

    That class imports torch's compiler, which takes a second in every process that trains; its function does not.
    """
    if "step" not in state:
        state["step"] = torch.zeros((), device=weights.device)
        state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(weights), torch.zeros_like(weights)
    torch_adam(
        [weights],
        [gradient],
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


MOMENTUM = 0.95
"""Momentum of Muon."""

MUON_STEP = 0.2
"""Root mean square of Muon's step on the numbers of a matrix, in learning rates: about that of Adam, so that one rate
serves both (Liu et al. 2025, "Muon is Scalable for LLM Training", §2.2)."""


def orthogonal(x: Tensor) -> Tensor:
    """About UV^T of each matrix x = USV^T of (matrices, rows, columns): its singular values become 0.7 to 1.2.

    Five steps of a Newton-Schulz iteration, with the coefficients of https://kellerjordan.github.io/posts/muon/.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    tall = x.shape[1] > x.shape[2]
    x = x.mT.contiguous() if tall else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-12)
    for _ in range(5):
        square = x @ x.mT
        polynomial = torch.baddbmm(square, square, square, beta=b, alpha=c)  # b x x^T + c (x x^T)^2
        x = torch.baddbmm(x, polynomial, x, beta=a)  # a x + polynomial x
    return x.mT if tall else x


def _linear_maps(model: nn.Module) -> list[nn.Parameter]:
    """The matrices of linear maps, each once; embeddings and output tables are not maps."""
    maps = {id(module.weight) for module in model.modules() if isinstance(module, nn.Linear)}
    return [parameter for parameter in model.parameters() if id(parameter) in maps]


def _matrices_first(model: nn.Module) -> tuple[list[nn.Parameter], list[Matrices]]:
    """The parameters, those of linear maps first and grouped by shape."""
    maps = {id(weight) for weight in _linear_maps(model)}
    everything = list(model.parameters())
    chosen = sorted((each for each in everything if id(each) in maps), key=lambda each: each.shape)
    groups, place = [], 0
    for shape, members in itertools.groupby(chosen, key=lambda each: each.shape):
        count = len(list(members))
        span = slice(place, place + count * shape.numel())
        groups.append(Matrices(span, (count, *shape)))
        place = span.stop
    return [*chosen, *(each for each in everything if id(each) not in maps)], groups
