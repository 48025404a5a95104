"""The context vector, step by step: a sum over the source where there is attention, one vector where there is none.

With attention each step of the translation has a context vector of its own, c_t = Σ_j α_tj v_j, which is built here
term by term. Without it (Sutskever et al. 2014, Cho et al. 2014) the encoder's last state is all that is known of the
source. What it still holds of a word is measured by leaving that word out: by how much the vector then changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tongsa.base.errors import UsageError
from tongsa.engines.inspection import END, START, shown
from tongsa.lab.walk_through.steps import Walk
from tongsa.models.attentional import Attentional
from tongsa.models.recurrent import Recurrent

if TYPE_CHECKING:
    from tongsa.translation.translator import Translator


@dataclass(frozen=True, kw_only=True)
class Summed:
    """Context vectors that are weighted sums."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    """What was written last before each step: the first step begins with <start>."""
    weights: Tensor
    """(target, source)"""
    values: Tensor
    """(source, width)"""

    def partial(self) -> Tensor:
        """(target, source, width): the sum of the first terms."""
        return (self.weights[:, :, None] * self.values[None]).cumsum(dim=1)


@dataclass(frozen=True, kw_only=True)
class Squeezed:
    """One vector for the whole source."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    vectors: Tensor
    """(source, width): the encoder's vector of the first 1, 2, ... pieces."""
    influence: Tensor
    """(source, source): row t, column i: change of the t-th vector if piece i is left out, relative to its length."""


Context = Summed | Squeezed


def of_walk(walk: Walk) -> Summed:
    """The context vectors of the walk's head in cross-attention."""
    return Summed(
        source=tuple(map(shown, walk.source)),
        target=tuple(map(shown, (START, *walk.target[:-1]))),
        weights=walk.find("cross", "weights"),
        values=walk.find("cross", "V"),
    )


@torch.no_grad()
def of_recurrent(translator: Translator, sentence: str) -> Context:
    """The context vectors of a recurrent model, with attention or without."""
    model = translator.native.model
    assert isinstance(model, Recurrent | Attentional), "others have a walk-through, or are refused"
    ((_, ids),) = translator.encode([sentence])
    if not ids:
        raise UsageError("there is no text to walk through")
    special = translator.native.special
    written = translator.native.translate([ids], translator.search)[0][0].ids
    read = torch.tensor([[*ids, special.end]])
    source = tuple(map(shown, (*translator.subwords.source.pieces(ids), END)))
    target = tuple(map(shown, (START, *translator.subwords.target.pieces(list(written)))))
    if isinstance(model, Recurrent):
        vectors, influence = _squeezed(model, read)
        return Squeezed(source=source, target=target, vectors=vectors, influence=influence)
    mask = torch.ones_like(read, dtype=torch.bool)
    weights = model.attend(read, mask, torch.tensor([[special.start, *written]])).cross[0][0, 0]
    annotations, _ = model.encode(read, mask)
    return Summed(source=source, target=target, weights=weights, values=annotations.values[0])


def _squeezed(model: Recurrent, read: Tensor) -> tuple[Tensor, Tensor]:
    """Vectors of the beginnings of the source, and what each of their pieces changes in them."""
    length = read.shape[1]
    vectors = [_vector(model, read[:, : end + 1])[0] for end in range(length)]
    influence = torch.zeros(length, length)
    for end, vector in enumerate(vectors):
        if end == 0:
            influence[0, 0] = 1.0  # without its only piece there is nothing
            continue
        rows = [[place for place in range(end + 1) if place != left_out] for left_out in range(end + 1)]
        others = _vector(model, read[0][torch.tensor(rows)])
        influence[end, : end + 1] = (others - vector).norm(dim=-1) / vector.norm()
    return torch.stack(vectors), influence


def _vector(model: Recurrent, tokens: Tensor) -> Tensor:
    """(batch, hidden): the top layer's h."""
    return model.encode(tokens, torch.ones_like(tokens, dtype=torch.bool))[-1][0]
