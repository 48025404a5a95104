"""Do something to a trained Transformer and see what happens: heads off, no scale, other positions, nothing from the
source. The model itself is not changed: a copy of it is.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import torch
from torch import Tensor, nn

from tongsa.base.errors import UsageError
from tongsa.models.attention import MultiHeadAttention
from tongsa.models.embeddings import Positions
from tongsa.models.layers import DecoderLayer, EncoderLayer
from tongsa.models.transformer import Transformer
from tongsa.models.variants import NoPositions, dot_product_attention

if TYPE_CHECKING:
    from tongsa.engines.native import NativeEngine
    from tongsa.translation.translator import Translator

Place = Literal["encoder", "decoder", "cross"]
PLACES: tuple[Place, ...] = ("encoder", "decoder", "cross")
NEIGHBOURS, GROUPS = 8, 64
"""Positions are shuffled in groups of so many neighbours; later groups keep their order."""


@dataclass(frozen=True, order=True)
class Head:
    """A head of one of the three kinds of attention (§3.2.3); layer and number count from 0."""

    place: Place
    layer: int
    number: int


@dataclass(frozen=True, kw_only=True)
class Intervention:
    """What is done to the model."""

    heads_off: tuple[Head, ...] = ()
    """Heads whose output is replaced by zeros: as if their rows of W^O were zero."""
    scale: bool = True
    """Divide by sqrt(d_k)."""
    positions: Literal["kept", "none", "shuffled"] = "kept"
    cross: bool = True
    """Whether the decoder may look at the source."""
    seed: int = 1
    """Of the shuffled positions."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What an intervention changes."""

    before: str
    after: str
    """The translations."""
    log_probability: tuple[float, float]
    """Of the first translation, before and after."""
    changed: dict[Head, float]
    """Largest change of an attention weight of each head, for the first translation."""


def intervene(model: Transformer, what: Intervention) -> Transformer:
    """A copy of the model with the intervention done to it."""
    changed = copy.deepcopy(model)
    found = attentions(changed)
    for head in what.heads_off:
        _check(head, found, changed.config.heads)
        _switch_off(found[head.place][head.layer], head.number)
    for place, layers in found.items():
        for layer in layers:
            if not what.scale:
                layer.function = dot_product_attention
            if place == "cross" and not what.cross:
                for number in range(changed.config.heads):
                    _switch_off(layer, number)
    if what.positions != "kept":
        for name in ("source_positions", "target_positions"):
            kept = cast(Positions, getattr(changed, name))
            setattr(changed, name, _other_positions(kept, what, changed.config.d_model))
    return changed


def attentions(model: Transformer) -> dict[Place, list[MultiHeadAttention]]:
    """The attention of every layer, by place."""
    encoder = [cast(EncoderLayer, layer) for layer in model.encoder]
    decoder = [cast(DecoderLayer, layer) for layer in model.decoder]
    return {
        "encoder": [layer.self_attention for layer in encoder],
        "decoder": [layer.self_attention for layer in decoder],
        "cross": [layer.cross_attention for layer in decoder],
    }


def effect(translator: Translator, sentence: str, what: Intervention) -> Effect:
    """Translate the sentence with and without the intervention."""
    engine = translator.native
    if type(engine.model) is not Transformer:
        raise UsageError(f"{translator.card.recipe.model.architecture} is no Transformer, whose heads these are")
    ((_, source),) = translator.encode([sentence])
    if not source:
        raise UsageError("there is no text to translate")
    other = _with_model(engine, intervene(engine.model, what))
    first, second = (each.translate([source], translator.search)[0][0].ids for each in (engine, other))
    weights = [each.attention(source, first) for each in (engine, other)]
    changed = {
        Head(place, layer, head): float((was[0, head] - now[0, head]).abs().max())
        for place in PLACES
        for layer, (was, now) in enumerate(zip(*(getattr(each, place) for each in weights), strict=True))
        for head in range(was.shape[1])
    }
    texts = translator.subwords.target.decode_many([first, second])
    before, after = (sum(each.score([source], [first])[0]) for each in (engine, other))
    return Effect(before=texts[0], after=texts[1], log_probability=(before, after), changed=changed)


def _check(head: Head, found: dict[Place, list[MultiHeadAttention]], heads: int) -> None:
    if head.place not in found or not 0 <= head.layer < len(found[head.place]) or not 0 <= head.number < heads:
        layers = ", ".join(f"{place}: {len(each)} layers" for place, each in found.items())
        raise UsageError(
            f"there is no head {head.number + 1} in layer {head.layer + 1} of {head.place}",
            f"There are {heads} heads in each layer; {layers}.",
        )


def _switch_off(attention: MultiHeadAttention, head: int) -> None:
    """Zero what a head gives to W^O."""
    width = attention.w_o.in_features // attention.heads

    def zero(module: nn.Module, given: Sequence[Tensor]) -> tuple[Tensor]:
        x = given[0].clone()
        x[..., head * width : (head + 1) * width] = 0
        return (x,)

    attention.w_o.register_forward_pre_hook(zero)


def _other_positions(kept: Positions, what: Intervention, d_model: int) -> Positions:
    return NoPositions(d_model) if what.positions == "none" else _Shuffled(kept, what.seed)


class _Shuffled(Positions):
    """The same encodings in another order: each group of neighbours is shuffled, so that none is of a position that
    sentences of this length do not have."""

    def __init__(self, kept: Positions, seed: int) -> None:
        super().__init__()
        self.kept = kept
        random = torch.Generator().manual_seed(seed)
        groups = [torch.randperm(NEIGHBOURS, generator=random) + NEIGHBOURS * group for group in range(GROUPS)]
        self.order = torch.cat(groups)

    def forward(self, first: int, length: int) -> Tensor:
        order = torch.arange(max(first + length, len(self.order)))
        order[: len(self.order)] = self.order
        order = order[first : first + length]
        encodings: Tensor = self.kept(0, int(order.max()) + 1)
        return encodings[order.clamp(max=len(encodings) - 1)]


def _with_model(engine: NativeEngine, model: Transformer) -> NativeEngine:
    from tongsa.engines.native import NativeEngine

    return NativeEngine(
        model,
        source_pad=engine.source_pad,
        target_pad=engine.special.start,
        end=engine.special.end,
        unwritable=engine.special.unwritable,
        batch_tokens=engine.batch_tokens,
    )
