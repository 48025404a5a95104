"""The matrices of one head for one pair: Q, K, V, the scores, the same scaled and masked, the weights, their output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

from tongsa.base.errors import UsageError
from tongsa.config import TransformerSection
from tongsa.lab.interventions import Head, attention_of, sharing_weights
from tongsa.models.attention import AttentionFunction, Weights, attention
from tongsa.models.transformer import Transformer

if TYPE_CHECKING:
    from tongsa.translation.translator import Translator


@dataclass(frozen=True, kw_only=True)
class HeadNumbers:
    """Each (queries or keys, width) or (queries, keys), as Eq. 1 makes one from the other."""

    q: Tensor
    k: Tensor
    v: Tensor
    scores: Tensor
    """Q K^T"""
    scaled: Tensor
    """Q K^T / sqrt(d_k)"""
    masked: Tensor
    """The same with -inf where a query may not look."""
    weights: Tensor
    """The softmax of it: 0 where there was -inf."""
    output: Tensor
    """The weights times V, which is what the head gives to W^O."""


def head_numbers(translator: Translator, source: Sequence[int], target: Sequence[int], head: Head) -> HeadNumbers:
    """Compute the pair once, and keep what this head computes."""
    engine, section = translator.native, translator.card.recipe.model
    if type(engine.model) is not Transformer or not isinstance(section, TransformerSection):
        raise UsageError(f"{section.architecture} is no Transformer, whose heads these are")
    if section.attention != "scaled-dot-product":
        raise UsageError(f"this model computes its weights by {section.attention}, not by Eq. 1")
    shared = sharing_weights(engine.model)
    seen: list[HeadNumbers] = []
    attention_of(shared, head).function = _keeping(head.number, seen)
    engine.with_model(shared).attention(source, target)
    (found,) = seen
    return found


def _keeping(head: int, seen: list[HeadNumbers]) -> AttentionFunction:
    """The paper's attention, which keeps the matrices of one head."""

    def compute(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, weights: Weights | None = None) -> Tensor:
        own_q, own_k, own_v = (x[0, head] for x in (q, k, v))
        scores = own_q @ own_k.T
        scaled = scores / math.sqrt(own_q.shape[-1])
        masked = scaled
        if mask is not None:
            allowed = mask.expand(1, q.shape[1], q.shape[2], k.shape[2])[0, head]
            masked = scaled.masked_fill(~allowed, -math.inf)
        found = masked.softmax(dim=-1)
        seen.append(
            HeadNumbers(
                q=own_q,
                k=own_k,
                v=own_v,
                scores=scores,
                scaled=scaled,
                masked=masked,
                weights=found,
                output=found @ own_v,
            )
        )
        return attention(q, k, v, mask, weights)

    return compute
