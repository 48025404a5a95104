"""A Transformer as a CTranslate2 model: every option of ours has an exact counterpart there.

`<pad>` has no row in CTranslate2: its decoder starts from a zero embedding, which is the embedding of our `<pad>`.
Its default position encodings use another formula, so our own table is always included in the model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2 import specs
from ctranslate2.specs.model_spec import NumpyVariable

from tongsa.config import TransformerSection
from tongsa.decoding.search import aligning_layer
from tongsa.engines.compiled import POSITIONS
from tongsa.engines.weights import sinusoids
from tongsa.runs.weights import Array
from tongsa.text.subwords import Subwords

ACTIVATIONS = {
    "relu": specs.Activation.RELU,
    "gelu": specs.Activation.GELU,
    "swish": specs.Activation.SWISH,
}

NEVER = -1e4
"""The bias of a piece that may not be written."""

Weights = Mapping[str, Array]


def write_ctranslate2(
    out: Path,
    weights: Weights,
    config: TransformerSection,
    subwords: Subwords,
    precision: str,
    bits: int = 8,
    *,
    forbid: bool = False,
) -> None:
    """Write the files of a CTranslate2 model into the folder `out`; precision is int8 or float32.

    With int8, weights may have 7 `bits` instead of 8: see `tongsa.engines.precision`. With `forbid`, a bias keeps the
    model from writing control characters, whichever program runs it; our own engine forbids them in its search.
    """
    spec = specification(weights, config, subwords)
    if forbid and subwords.target.unwritable:
        _forbid(spec.decoder.projection, subwords)
    spec.validate()
    if precision == "int8" and bits < 8:
        spec._visit(partial(_quantize, largest=2 ** (bits - 1) - 1))
        spec.optimize()
    else:
        spec.optimize(quantization=precision)
    out.mkdir(parents=True, exist_ok=True)
    spec.save(str(out))


def _forbid(projection: Any, subwords: Subwords) -> None:
    bias = np.zeros(subwords.target.pad, np.float32)
    if projection.has_bias():
        bias += projection.bias
    bias[list(subwords.target.unwritable)] = NEVER
    projection.bias = bias


def _quantize(spec: Any, name: str, value: Any, largest: int) -> None:
    """Round a matrix to whole numbers up to `largest`, with a scale for each row, as CTranslate2 does for 8 bits."""
    key = name.rpartition("/")[2]
    if not hasattr(spec, f"{key}_scale"):
        return
    matrix = value.to("float32").numpy()
    highest = np.abs(matrix).max(axis=1)
    scale = np.where(highest > 0, largest / np.maximum(highest, np.finfo(np.float32).tiny * largest), 1.0)
    scale = scale.astype(np.float32)
    setattr(spec, key, NumpyVariable(np.rint(matrix * scale[:, None]).astype(np.int8)))
    setattr(spec, f"{key}_scale", NumpyVariable(scale))


def specification(weights: Weights, config: TransformerSection, subwords: Subwords) -> Any:
    """Build CTranslate2's specification of the model with our weights."""
    spec = specs.TransformerSpec(_encoder(weights, config), _decoder(weights, config))
    spec.register_source_vocabulary(subwords.source.all_pieces()[:-1])
    spec.register_target_vocabulary(subwords.target.all_pieces()[:-1])
    spec.config.add_source_eos = True
    spec.config.decoder_start_token = "</s>"  # any piece would do: its embedding is not used
    return spec


def _encoder(weights: Weights, config: TransformerSection) -> Any:
    encoder = specs.TransformerEncoderSpec(
        config.encoder_layers,
        config.heads,
        pre_norm=config.norm == "pre",
        activation=ACTIVATIONS[config.activation],
        head_dim=_head_width(config),
    )
    encoder.embeddings[0].weight = weights["source_embedding.weight"][:-1]
    encoder.position_encodings.encodings = _positions(weights, config, "source_positions")
    for i, layer in enumerate(encoder.layer):
        _self_attention(layer.self_attention, weights, config, f"encoder.{i}")
        _feed_forward(layer.ffn, weights, f"encoder.{i}", norm=1)
    if config.norm == "pre":
        _norm(encoder.layer_norm, weights, "encoder_norm")
    return encoder


def _decoder(weights: Weights, config: TransformerSection) -> Any:
    decoder = specs.TransformerDecoderSpec(
        config.decoder_layers,
        config.heads,
        alignment_layer=aligning_layer(config.decoder_layers),
        alignment_heads=config.heads,
        pre_norm=config.norm == "pre",
        activation=ACTIVATIONS[config.activation],
        head_dim=_head_width(config),
    )
    decoder.start_from_zero_embedding = True
    embedding, output = (_first(weights, names) for names in (TARGET_EMBEDDING, OUTPUT))
    decoder.embeddings.weight = embedding[:-1]
    decoder.projection.weight = output[:-1]
    if "output_bias" in weights:
        decoder.projection.bias = weights["output_bias"][:-1]
    decoder.position_encodings.encodings = _positions(weights, config, "target_positions")
    for i, layer in enumerate(decoder.layer):
        _self_attention(layer.self_attention, weights, config, f"decoder.{i}")
        _cross_attention(layer.attention, weights, config, f"decoder.{i}")
        _feed_forward(layer.ffn, weights, f"decoder.{i}", norm=2)
    if config.norm == "pre":
        _norm(decoder.layer_norm, weights, "decoder_norm")
    return decoder


TARGET_EMBEDDING = ("target_embedding.weight", "source_embedding.weight")
OUTPUT = ("output.weight", *TARGET_EMBEDDING)
"""Return the first of these tensors that exists: tied matrices are stored once, under their first name."""


def _first(weights: Weights, names: tuple[str, ...]) -> Array:
    return weights[next(name for name in names if name in weights)]


def _positions(weights: Weights, config: TransformerSection, name: str) -> Array:
    if config.positions == "learned":
        return weights[f"{name}.weight"]
    return sinusoids(POSITIONS, config.d_model)


def _self_attention(spec: Any, weights: Weights, config: TransformerSection, layer: str) -> None:
    name = f"{layer}.self_attention"
    _linear(spec.linear[0], *_stacked(*(_heads(weights, config, name, part) for part in ("q", "k", "v"))))
    _linear(spec.linear[1], *_joined_heads(weights, config, name))
    _scale(spec, config)
    _norm(spec.layer_norm, weights, f"{layer}.residuals.0.norm")


def _cross_attention(spec: Any, weights: Weights, config: TransformerSection, layer: str) -> None:
    name = f"{layer}.cross_attention"
    _linear(spec.linear[0], *_heads(weights, config, name, "q"))
    _linear(spec.linear[1], *_stacked(*(_heads(weights, config, name, part) for part in ("k", "v"))))
    _linear(spec.linear[2], *_joined_heads(weights, config, name))
    _scale(spec, config)
    _norm(spec.layer_norm, weights, f"{layer}.residuals.1.norm")


def _feed_forward(spec: Any, weights: Weights, layer: str, norm: int) -> None:
    for linear, name in ((spec.linear_0, "linear_1"), (spec.linear_1, "linear_2")):
        _linear(linear, *(weights[f"{layer}.feed_forward.{name}.{part}"] for part in ("weight", "bias")))
    _norm(spec.layer_norm, weights, f"{layer}.residuals.{norm}.norm")


# CTranslate2 has one head width, d_k = d_v. If ours differ, the narrower heads are padded with zeros, which change no
# product; and queries are scaled by their real width.


def _head_width(config: TransformerSection) -> int | None:
    width = max(config.key_width, config.value_width)
    return None if width * config.heads == config.d_model else width


def _scale(spec: Any, config: TransformerSection) -> None:
    if _head_width(config) is not None or config.key_width != config.value_width:
        spec.queries_scale = np.float32(1 / math.sqrt(config.key_width))


def _heads(weights: Weights, config: TransformerSection, name: str, part: str) -> tuple[Array, Array]:
    """Weight (heads * width, d_model) and bias of w_q, w_k or w_v."""
    weight, bias = (weights[f"{name}.w_{part}.{kind}"] for kind in ("weight", "bias"))
    own = config.value_width if part == "v" else config.key_width
    missing = max(config.key_width, config.value_width) - own
    weight = np.pad(weight.reshape(config.heads, own, -1), ((0, 0), (0, missing), (0, 0)))
    bias = np.pad(bias.reshape(config.heads, own), ((0, 0), (0, missing)))
    return weight.reshape(-1, weight.shape[-1]), bias.reshape(-1)


def _joined_heads(weights: Weights, config: TransformerSection, name: str) -> tuple[Array, Array]:
    """Weight (d_model, heads * width) and bias of w_o."""
    weight, bias = (weights[f"{name}.w_o.{kind}"] for kind in ("weight", "bias"))
    missing = max(config.key_width, config.value_width) - config.value_width
    weight = np.pad(weight.reshape(-1, config.heads, config.value_width), ((0, 0), (0, 0), (0, missing)))
    return weight.reshape(len(bias), -1), bias


def _stacked(*parts: tuple[Array, Array]) -> tuple[Array, Array]:
    return np.concatenate([weight for weight, _ in parts]), np.concatenate([bias for _, bias in parts])


def _linear(spec: Any, weight: Array, bias: Array) -> None:
    spec.weight, spec.bias = np.ascontiguousarray(weight), np.ascontiguousarray(bias)


def _norm(spec: Any, weights: Weights, name: str) -> None:
    spec.gamma, spec.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]
