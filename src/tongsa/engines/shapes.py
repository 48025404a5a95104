"""The tensors of a Transformer with their shapes, from its settings alone. Needs neither torch nor numpy."""

from __future__ import annotations

from collections.abc import Iterator

from tongsa.config import TransformerSection
from tongsa.runs.header import Shape
from tongsa.text.subwords import Subwords


def shapes(config: TransformerSection, subwords: Subwords) -> dict[str, Shape]:
    """Return the shape of each parameter of `tongsa.models.transformer`, by name; tied ones under their first name."""
    d_model, source, target = config.d_model, len(subwords.source), len(subwords.target)
    found: dict[str, Shape] = {"source_embedding.weight": (source, d_model)}
    if not (subwords.joint and config.tied):
        found["target_embedding.weight"] = (target, d_model)
    if not config.tied:
        found["output.weight"] = (target, d_model)
    if config.output_bias:
        found["output_bias"] = (target,)
    if config.positions == "learned":
        for side in ("source", "target"):
            found[f"{side}_positions.weight"] = (config.max_positions, d_model)
    for stack, layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        for layer in range(layers):
            found |= {f"{stack}.{layer}.{name}": shape for name, shape in _layer(config, stack)}
        if config.norm == "pre":
            found |= {f"{stack}_norm.{part}": (d_model,) for part in ("weight", "bias")}
    return found


def _layer(config: TransformerSection, stack: str) -> Iterator[tuple[str, Shape]]:
    d_model, keys, values = config.d_model, config.heads * config.key_width, config.heads * config.value_width
    attentions = ["self_attention"] if stack == "encoder" else ["self_attention", "cross_attention"]
    for attention in attentions:
        for name, width in (("w_q", keys), ("w_k", keys), ("w_v", values)):
            yield f"{attention}.{name}.weight", (width, d_model)
            yield f"{attention}.{name}.bias", (width,)
        yield f"{attention}.w_o.weight", (d_model, values)
        yield f"{attention}.w_o.bias", (d_model,)
    yield "feed_forward.linear_1.weight", (config.d_ff, d_model)
    yield "feed_forward.linear_1.bias", (config.d_ff,)
    yield "feed_forward.linear_2.weight", (d_model, config.d_ff)
    yield "feed_forward.linear_2.bias", (d_model,)
    for residual in range(len(attentions) + 1):
        yield f"residuals.{residual}.norm.weight", (d_model,)
        yield f"residuals.{residual}.norm.bias", (d_model,)
