"""Compute every step of a translation with a Transformer, one equation each, as matrices that can be shown.

All positions of the translation are computed at once, as in training: the mask keeps each from seeing those after it
(§3.2.3). A layer is shown in detail for one head; of the other layers, the outputs.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from tongsa.base.errors import UsageError
from tongsa.decoding.search import length_penalty
from tongsa.engines.inspection import END, START, shown
from tongsa.models import attention, embeddings, layers, transformer
from tongsa.models.contracts import causal_mask

if TYPE_CHECKING:
    from tongsa.translation.translator import Translator

LIKELIEST = 10


@dataclass(frozen=True, kw_only=True)
class Step:
    """One equation, and what it gives here."""

    part: str
    """The part of the model: source, encoder, target, decoder, cross, network, output or search."""
    name: str
    """Name of the result, by which texts and tests refer to it: "scores"."""
    equation: str
    where: str
    """File and line that compute it."""
    values: Tensor
    """(rows, columns)"""
    rows: tuple[str, ...]
    columns: tuple[str, ...] = ()
    """Names of the columns, if they have any: dimensions have none."""


@dataclass(frozen=True, kw_only=True)
class Walk:
    source: tuple[str, ...]
    target: tuple[str, ...]
    layer: int
    head: int
    steps: list[Step]
    facts: dict[str, int]

    def find(self, part: str, name: str) -> Tensor:
        return next(step.values for step in self.steps if (step.part, step.name) == (part, name))


def walk_through(translator: Translator, sentence: str, *, layer: int = 1, head: int = 1) -> Walk:
    """Translate the sentence, and return each step of it; layer and head count from 1."""
    model, section = translator.native.model, translator.card.recipe.model
    if type(model) is not transformer.Transformer:
        raise UsageError(
            f"the walk-through is of a Transformer, and this is {section.architecture}",
            "Train one with --set model.architecture=transformer.",
        )
    other = model.config.experimental()
    if other:
        raise UsageError("the walk-through is of the paper's layers", *(f"This model: {what}." for what in other))
    for what, chosen, most in (
        ("layer", layer, min(len(model.encoder), len(model.decoder))),
        ("head", head, model.config.heads),
    ):
        if not 1 <= chosen <= most:
            raise UsageError(f"there is no {what} {chosen}", f"There are 1 to {most}.")
    ((_, source),) = translator.encode([sentence])
    if not source:
        raise UsageError("there is no text to walk through")
    target = translator.native.translate([source], translator.search)[0][0].ids
    return Walk(
        source=(*translator.subwords.source.pieces(source), END),
        target=(*translator.subwords.target.pieces(list(target)), END),
        layer=layer,
        head=head,
        steps=list(_Walker(model, translator, layer - 1, head - 1).steps(source, target)),
        facts={
            "d_model": model.config.d_model,
            "d_k": model.config.key_width,
            "heads": model.config.heads,
            "d_ff": model.config.d_ff,
            "encoder_layers": len(model.encoder),
            "decoder_layers": len(model.decoder),
        },
    )


class _Walker:
    def __init__(self, model: transformer.Transformer, translator: Translator, layer: int, head: int) -> None:
        self.model = model
        self.config = model.config
        self.subwords = translator.subwords
        self.engine, self.search = translator.native, translator.search
        self.special = self.engine.special
        self.layer, self.head = layer, head

    @torch.no_grad()
    def steps(self, source: Sequence[int], target: Sequence[int]) -> Iterator[Step]:
        model, words = self.model, self.subwords
        read = torch.tensor([[*source, self.special.end]])
        written = torch.tensor([[self.special.start, *target]])
        rows = tuple(map(shown, (*words.source.pieces(list(source)), END)))
        steps = tuple(map(shown, (START, *words.target.pieces(list(target)))))
        x = yield from self._embedded("source", model.source_embedding, model.source_positions, read, rows)
        for number, each in enumerate(model.encoder):
            layer = cast(layers.EncoderLayer, each)
            if number == self.layer:
                x = yield from self._attended(
                    "encoder", layer.self_attention, layer.residuals[0], x, x, None, rows, rows
                )
                x = yield from self._fed_forward("encoder", layer.feed_forward, layer.residuals[1], x, rows)
            else:
                x = layer(x, None)
                yield _step("encoder", f"layer {number + 1}", "", layers.EncoderLayer.forward, x, rows)
        memory = model.encoder_norm(x)
        x = yield from self._embedded("target", model.target_embedding, model.target_positions, written, steps)
        causal = causal_mask(written.shape[1], written.device)
        for number, each in enumerate(model.decoder):
            decoding = cast(layers.DecoderLayer, each)
            if number == self.layer:
                ends = decoding.residuals
                x = yield from self._attended("decoder", decoding.self_attention, ends[0], x, x, causal, steps, steps)
                x = yield from self._attended("cross", decoding.cross_attention, ends[1], x, memory, None, steps, rows)
                x = yield from self._fed_forward("network", decoding.feed_forward, ends[2], x, steps)
            else:
                x = decoding(x, memory, causal, None)
                name = "decoder" if number < self.layer else "network"
                yield _step(name, f"layer {number + 1}", "", layers.DecoderLayer.forward, x, steps)
        yield from self._written(model.decoder_norm(x), steps)
        yield self._searched(source)

    def _embedded(
        self, part: str, table: nn.Embedding, positions: embeddings.Positions, tokens: Tensor, rows: tuple[str, ...]
    ) -> Any:
        yield _step(part, "tokens", "", None, tokens[:, :, None].float(), rows, ("id",))
        x = table(tokens)
        yield _step(part, "embeddings", "X = E[id]", embeddings.table, x, rows)
        x = x * math.sqrt(self.config.d_model)
        yield _step(part, "scaled embeddings", "X · √d_model", layers.embed, x, rows)
        encodings = positions(0, tokens.shape[1])
        made = embeddings.sinusoids if self.config.positions == "sinusoidal" else embeddings.LearnedPositions
        yield _step(part, "positions", "PE", made, encodings[None], rows)
        x = x + encodings
        yield _step(part, "input", "X · √d_model + PE", layers.embed, x, rows)
        return x

    def _attended(
        self,
        part: str,
        heads: attention.MultiHeadAttention,
        end: nn.Module,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None,
        rows: tuple[str, ...],
        columns: tuple[str, ...],
    ) -> Any:
        """One attention sublayer, with the matrices of the chosen head."""
        norm, pre = cast(nn.LayerNorm, end.norm), bool(end.pre)
        given = norm(x) if pre else x
        if pre:
            yield _step(part, "normalised input", "LayerNorm(x)", layers.Residual.forward, given, rows)
        seen = given if memory is x else memory
        project, attend = attention.MultiHeadAttention._project, attention.attention
        q, k, v = heads.queries(given), *heads.keys_values(seen)
        names = "x W^Q, x W^K, x W^V" if memory is x else "x W^Q, memory W^K, memory W^V"
        for name, equation, matrix, of in zip(
            "QKV", names.split(", "), (q, k, v), (rows, columns, columns), strict=True
        ):
            yield _step(part, name, f"{name} = {equation} + b", project, matrix[:, self.head], of)
        scores = q @ k.transpose(-2, -1)
        yield _step(part, "scores", "Q Kᵀ", attend, scores[:, self.head], rows, columns)
        scores = scores / math.sqrt(self.config.key_width)
        yield _step(part, "scaled scores", "Q Kᵀ / √d_k", attend, scores[:, self.head], rows, columns)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
            yield _step(part, "masked scores", "-∞ where masked", causal_mask, scores[:, self.head], rows, columns)
        weights = scores.softmax(dim=-1)
        yield _step(part, "weights", "softmax(Q Kᵀ / √d_k)", attend, weights[:, self.head], rows, columns)
        weighted = weights @ v
        yield _step(part, "head", "softmax(Q Kᵀ / √d_k) V", attend, weighted[:, self.head], rows)
        together = weighted.transpose(1, 2).flatten(2)
        yield _step(
            part, "concatenation", "Concat(head_1 ... head_h)", attention.MultiHeadAttention.attend, together, rows
        )
        out = heads.w_o(together)
        equation = "Concat(head_1 ... head_h) W^O + b"
        yield _step(part, "attention", equation, attention.MultiHeadAttention.attend, out, rows)
        return (yield from _ended(part, "", norm, pre, x, out, rows))

    def _fed_forward(self, part: str, network: nn.Module, end: nn.Module, x: Tensor, rows: tuple[str, ...]) -> Any:
        norm, pre = cast(nn.LayerNorm, end.norm), bool(end.pre)
        feed = cast(layers.FeedForward, network)
        inner = feed.activation(feed.linear_1(norm(x) if pre else x))
        name = self.config.activation
        equation = "max(0, x W_1 + b_1)" if name == "relu" else f"{name}(x W_1 + b_1)"
        yield _step(part, "inner", equation, layers.FeedForward.forward, inner, rows)
        out = feed.linear_2(inner)
        yield _step(part, "feed-forward", f"{equation} W_2 + b_2", layers.FeedForward.forward, out, rows)
        return (yield from _ended(part, " of the network", norm, pre, x, out, rows))

    def _written(self, x: Tensor, rows: tuple[str, ...]) -> Iterator[Step]:
        logits = self.model.project(self.model._with_one(x))
        best = logits[0].max(dim=0).values.topk(min(LIKELIEST, logits.shape[-1])).indices
        yield _step("output", "logits", "x Eᵀ", transformer.Transformer.projection, logits, rows)
        p = logits.softmax(dim=-1)
        pieces = tuple(map(shown, self.subwords.target.pieces(best.tolist())))
        yield _step("output", "probabilities", "softmax(x Eᵀ)", torch.softmax, p[..., best], rows, pieces)

    def _searched(self, source: Sequence[int]) -> Step:
        """The hypotheses that the beam search kept, best first."""
        search = dataclasses.replace(self.search, nbest=self.search.beam, alignment=False)
        kept = self.engine.translate([list(source)], search)[0]
        found = [
            [one.log_probability, float(length_penalty(len(one.ids) + 1, search.length_penalty)), one.score]
            for one in kept
        ]
        names = tuple(self.subwords.target.decode(one.ids) for one in kept)
        columns = ("log P(Y|X)", "lp(Y)", "log P / lp")
        return _step(
            "search", "hypotheses", "log P(Y|X) / lp(Y)", length_penalty, torch.tensor([found]), names, columns
        )


def _ended(part: str, of: str, norm: nn.LayerNorm, pre: bool, x: Tensor, out: Tensor, rows: tuple[str, ...]) -> Any:
    """The residual sum, and LayerNorm after it unless it came before."""
    x = x + out
    yield _step(part, f"sum{of}", "x + Sublayer(x)", layers.Residual.forward, x, rows)
    if not pre:
        x = norm(x)
        yield _step(part, f"LayerNorm{of}", "LayerNorm(x + Sublayer(x))", layers.Residual.forward, x, rows)
    return x


def _step(
    part: str,
    name: str,
    equation: str,
    code: Callable[..., object] | type | None,
    values: Tensor,
    rows: tuple[str, ...],
    columns: tuple[str, ...] = (),
) -> Step:
    return Step(
        part=part, name=name, equation=equation, where=_where(code), values=values[0], rows=rows, columns=columns
    )


def _where(code: Callable[..., object] | type | None) -> str:
    """File and line of the code that computes a step; empty for what torch computes."""
    if code is None or not code.__module__.startswith("tongsa."):
        return ""
    return f"src/{code.__module__.replace('.', '/')}.py:{inspect.getsourcelines(code)[1]}"
