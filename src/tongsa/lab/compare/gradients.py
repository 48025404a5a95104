"""Measure the influence of the first source token on a target token, by the number of positions between them.

For a sentence of n source positions and its reference, the distance from the first source token to the one that is
written at step t is n + t: a recurrent network must carry a signal that far, from position to position.
With attention the path has one step, whatever the distance (§4, "maximum path length").

The measure is dimensionless, so that models of different widths and scales are comparable: with x the embedding of the
first source token, f the feature from which step t is predicted and J = df/dx, it is

    |J|_F / sqrt(width of x)  *  |x| / |f|

the relative change of f for a small relative change of x in a random direction. |J|_F is estimated with one random
vector v for each sentence and step: E |J^T v|^2 = |J|_F^2 for v of independent unit variance.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from tongsa.models.contracts import Seq2Seq

SENTENCES = 200
STEPS = 8
"""Number of steps measured per sentence, evenly spaced from the first to the last."""
BIN = 4
"""Width of the ranges of distances that are averaged."""
FEWEST = 5
"""Minimum number of measurements for an average."""

Ids = Sequence[Sequence[int]]


def reach(
    model: Seq2Seq, sources: Ids, targets: Ids, *, end: int, start: int, sentences: int = SENTENCES, seed: int = 1
) -> list[list[float]]:
    """[distance, geometric mean of the measure], nearest first; empty for a model without embedding tables."""
    found: dict[int, list[float]] = defaultdict(list)
    random = torch.Generator().manual_seed(seed)
    model.eval()
    for places in _groups_of_equal_length(sources, sentences):
        source = torch.tensor([[*sources[i], end] for i in places])
        for distance, value in _measure(model, source, [targets[i] for i in places], start, random):
            if value > 0 and math.isfinite(value):
                found[distance // BIN].append(math.log(value))
    return [
        [(bin + 0.5) * BIN, math.exp(sum(values) / len(values))]
        for bin, values in sorted(found.items())
        if len(values) >= FEWEST
    ]


def _groups_of_equal_length(sources: Ids, sentences: int) -> Iterator[list[int]]:
    """Indices of about `sentences` sentences, in groups of equal length (without padding)."""
    stride = max(1, len(sources) // sentences)
    groups: dict[int, list[int]] = defaultdict(list)
    for place in range(0, len(sources), stride):
        if sources[place]:
            groups[len(sources[place])].append(place)
    for _, places in sorted(groups.items()):
        for first in range(0, len(places), 16):
            yield places[first : first + 16]


def _measure(
    model: Seq2Seq, source: Tensor, targets: Ids, start: int, random: torch.Generator
) -> Iterator[tuple[int, float]]:
    """(distance, value) for the chosen steps of each sentence."""
    device = next(model.parameters()).device
    source = source.to(device)
    longest = max(map(len, targets))
    read = torch.tensor([[start, *ids, *[start] * (longest - len(ids))] for ids in targets], device=device)
    with _embedded(model, source) as seen:
        features = model.features(model.encode(source, torch.ones_like(source, dtype=torch.bool)), read)
    if not seen:
        return
    x, first = seen[0]
    rows = torch.arange(len(source), device=device)
    for share in torch.linspace(0, 1, STEPS).tolist():
        steps = torch.tensor([round(share * len(ids)) for ids in targets], device=device)
        f = features[rows, steps]
        v = torch.randn(f.shape, generator=random).to(device)
        (gradient,) = torch.autograd.grad((f * v).sum(), x, retain_graph=True)
        arrived = gradient[:, first].norm(dim=-1) / math.sqrt(x.shape[-1])
        values = (arrived * x[:, first].norm(dim=-1) / f.norm(dim=-1)).tolist()
        yield from zip((source.shape[1] + steps).tolist(), values, strict=True)


@contextmanager
def _embedded(model: nn.Module, source: Tensor) -> Iterator[list[tuple[Tensor, int]]]:
    """The source embeddings that the model looks up, and the index of the first token in them.

    An encoder may read its source backwards; tables of positions or of the target are looked up with other ids.
    """
    seen: list[tuple[Tensor, int]] = []

    def note(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        ids = inputs[0]
        if not seen and ids.shape == source.shape and torch.equal(ids.sort().values, source.sort().values):
            here = (ids == source[:, :1]).all(dim=0).nonzero()
            if torch.equal(ids, source):
                seen.append((output, 0))
            elif len(here):
                seen.append((output, int(here[-1])))

    hooks = [module.register_forward_hook(note) for module in model.modules() if isinstance(module, nn.Embedding)]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()
