"""Do something to a trained Transformer and see what happens: heads off, no scale, other positions, nothing from the
source, another word. The model itself is not changed: a copy of it is, which shares its weights.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import torch
from torch import Tensor, nn

from tongsa.base.errors import UsageError
from tongsa.engines.inspection import END
from tongsa.models.attention import MultiHeadAttention
from tongsa.models.embeddings import Positions
from tongsa.models.layers import DecoderLayer, EncoderLayer
from tongsa.models.transformer import Transformer
from tongsa.models.variants import NoPositions, dot_product_attention

if TYPE_CHECKING:
    from tongsa.translation.translator import Translator

Place = Literal["encoder", "decoder", "cross"]
PLACES: tuple[Place, ...] = ("encoder", "decoder", "cross")
NEIGHBOURS, GROUPS = 8, 64
"""Positions are shuffled in groups of so many neighbours; later groups keep their order."""
LONGEST_NAME = 16


@dataclass(frozen=True, order=True)
class Head:
    """A head of one of the three kinds of attention (§3.2.3); layer and number count from 0."""

    place: Place
    layer: int
    number: int

    @classmethod
    def of(cls, name: str) -> Head:
        """Read `cross.1.2`: the kind of attention, the layer and the head, counted from 1."""
        place, _, rest = name.partition(".")
        layer, _, number = rest.partition(".")
        if place not in PLACES or not (layer.isdecimal() and number.isdecimal()) or len(rest) > LONGEST_NAME:
            raise UsageError(
                f"{name[:LONGEST_NAME]!r} names no head",
                f"Write KIND.LAYER.HEAD, counted from 1; kinds are {', '.join(PLACES)}.",
            )
        return cls(place, int(layer) - 1, int(number) - 1)

    @property
    def name(self) -> str:
        return f"{self.place}.{self.layer + 1}.{self.number + 1}"


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
    tokens: tuple[str, ...]
    """Those of the first translation, and its end."""
    log_probabilities: tuple[list[float], list[float]]
    """Of these tokens, before and after."""
    changed: dict[Head, float]
    """Largest change of an attention weight of each head, for the first translation; without the heads that look at
    the source if that has another number of tokens now."""

    @property
    def log_probability(self) -> tuple[float, float]:
        """Of the first translation, before and after."""
        before, after = self.log_probabilities
        return sum(before), sum(after)


def intervene(model: Transformer, what: Intervention) -> Transformer:
    """A copy of the model with the intervention done to it."""
    changed = sharing_weights(model)
    found = attentions(changed)
    for head in what.heads_off:
        _switch_off(attention_of(changed, head), head.number)
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


def attention_of(model: Transformer, head: Head) -> MultiHeadAttention:
    """The attention that a head belongs to."""
    found, heads = attentions(model), model.config.heads
    if head.place not in found or not 0 <= head.layer < len(found[head.place]) or not 0 <= head.number < heads:
        layers = ", ".join(f"{place}: {len(each)} layers" for place, each in found.items())
        raise UsageError(
            f"there is no head {head.number + 1} in layer {head.layer + 1} of {head.place}",
            f"There are {heads} heads in each layer; {layers}.",
        )
    return found[head.place][head.layer]


def sharing_weights(model: Transformer) -> Transformer:
    """A copy of the model's modules, with the weights of the model itself: it takes no memory."""
    return copy.deepcopy(model, {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())})


class Baseline:
    """A sentence as the model translates it before anything is done to it."""

    def __init__(self, translator: Translator, sentence: str) -> None:
        self.engine = translator.native
        if type(self.engine.model) is not Transformer:
            raise UsageError(f"{translator.card.recipe.model.architecture} is no Transformer, whose heads these are")
        self.model = self.engine.model
        self.translator = translator
        self.source = encoded(translator, sentence)
        self.written = self.engine.translate([self.source], translator.search)[0][0].ids
        self.weights = self.engine.attention(self.source, self.written)
        (self.log_probabilities,) = self.engine.score([self.source], [self.written])

    def effect(self, what: Intervention, instead: str | None = None) -> Effect:
        """What the intervention changes; `instead` is read in place of the sentence."""
        engine = self.engine.with_model(intervene(self.model, what))
        source = self.source if instead is None else encoded(self.translator, instead)
        written = engine.translate([source], self.translator.search)[0][0].ids
        weights = engine.attention(source, self.written)
        changed = {
            Head(place, layer, head): float((was[0, head] - now[0, head]).abs().max())
            for place in PLACES
            for layer, (was, now) in enumerate(zip(getattr(self.weights, place), getattr(weights, place), strict=True))
            for head in range(was.shape[1])
            if was.shape == now.shape
        }
        subwords = self.translator.subwords.target
        before, after = subwords.decode_many([self.written, written])
        return Effect(
            before=before,
            after=after,
            tokens=(*subwords.pieces(self.written), END),
            log_probabilities=(self.log_probabilities, engine.score([source], [self.written])[0]),
            changed=changed,
        )


def effect(translator: Translator, sentence: str, what: Intervention, instead: str | None = None) -> Effect:
    """Translate the sentence with and without the intervention; with it, `instead` may be read."""
    return Baseline(translator, sentence).effect(what, instead)


def encoded(translator: Translator, sentence: str) -> list[int]:
    """The ids of a sentence, which has some."""
    ((_, source),) = translator.encode([sentence])
    if not source:
        raise UsageError("there is no text to translate")
    return source


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
