"""Conversion of tensors between our Transformer and MarianMT: other names, and another order of the residual stream.

The paper interleaves sines and cosines along the width of the model, Marian has all sines before all cosines. A
Transformer whose stream is permuted everywhere it is written to and read from computes the same logits:

    columns of the embeddings; columns of q, k, v, linear_1; rows and biases of w_o, linear_2; every LayerNorm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tongsa.config import TransformerSection
from tongsa.runs.weights import Array
from tongsa.text.subwords import Subwords

NEVER = -1e4
"""The logit of `<pad>`, so that it takes no probability from the others."""

LAYER_NAMES = {
    "self_attention.w_q": "self_attn.q_proj",
    "self_attention.w_k": "self_attn.k_proj",
    "self_attention.w_v": "self_attn.v_proj",
    "self_attention.w_o": "self_attn.out_proj",
    "cross_attention.w_q": "encoder_attn.q_proj",
    "cross_attention.w_k": "encoder_attn.k_proj",
    "cross_attention.w_v": "encoder_attn.v_proj",
    "cross_attention.w_o": "encoder_attn.out_proj",
    "feed_forward.linear_1": "fc1",
    "feed_forward.linear_2": "fc2",
}
"""Ours and theirs. The names of LayerNorms depend on the stack."""
NORM_NAMES = {
    "encoder": ["self_attn_layer_norm", "final_layer_norm"],
    "decoder": ["self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"],
}


SHARED = ("model.shared.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")
ENCODER = ("model.encoder.embed_tokens.weight", "model.shared.weight")
DECODER = ("model.decoder.embed_tokens.weight", "lm_head.weight", "model.shared.weight")


def to_marian(weights: dict[str, Array], config: TransformerSection, subwords: Subwords) -> dict[str, Array]:
    """Return the tensors under Marian's names, each once; transformers ties them according to its config."""
    tensors = {theirs: weights[ours] for ours, theirs in layer_names(config)}
    source = weights["source_embedding.weight"]
    target = weights.get("target_embedding.weight", source)
    if shares_embeddings(config, subwords):
        tensors["model.shared.weight"] = source
    else:
        tensors["model.encoder.embed_tokens.weight"] = source
        tensors["model.decoder.embed_tokens.weight"] = target.copy()
        if config.norm == "pre":
            tensors["model.shared.weight"] = source.copy()  # Pegasus has it, though nothing is computed with it
    if not config.tied:
        tensors["lm_head.weight"] = weights["output.weight"]
    bias = np.zeros(len(target), np.float32) + weights.get("output_bias", np.float32(0))
    bias[-1] = NEVER
    tensors["final_logits_bias"] = bias[None]
    return tensors


def layer_names(config: TransformerSection) -> list[tuple[str, str]]:
    """Our name and Marian's for every tensor of the layers."""
    names = []
    for stack, depth in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        own = {ours: theirs for ours, theirs in LAYER_NAMES.items() if stack == "decoder" or "cross" not in ours} | {
            f"residuals.{i}.norm": theirs for i, theirs in enumerate(NORM_NAMES[stack])
        }
        for layer in range(depth):
            for ours, theirs in own.items():
                for part in ("weight", "bias"):
                    names.append((f"{stack}.{layer}.{ours}.{part}", f"model.{stack}.layers.{layer}.{theirs}.{part}"))
        if config.norm == "pre":
            names += [(f"{stack}_norm.{part}", f"model.{stack}.layer_norm.{part}") for part in ("weight", "bias")]
    return names


def shares_embeddings(config: TransformerSection, subwords: Subwords) -> bool:
    return subwords.joint and config.tied


def from_marian(tensors: dict[str, Array], config: TransformerSection, settings: dict[str, Any]) -> dict[str, Array]:
    """Our weights from Marian's tensors."""
    weights = {ours: tensors[theirs] for ours, theirs in layer_names(config)}
    joint = bool(settings.get("share_encoder_decoder_embeddings", True))
    source = _first(tensors, SHARED if joint else ENCODER)
    target = _first(tensors, SHARED if joint else DECODER)
    output = tensors.get("lm_head.weight", target)
    # If a model does not scale its embeddings, they are scaled down here, and its output matrix is stored separately.
    scale = np.float32(1.0 if settings.get("scale_embedding", False) else config.d_model**-0.5)
    weights["source_embedding.weight"] = source * scale
    if not (joint and config.tied):
        weights["target_embedding.weight"] = target * scale
    if not config.tied:
        weights["output.weight"] = output.copy()
    if config.output_bias:
        bias = tensors["final_logits_bias"].flatten()
        bias[-1] = 0.0
        weights["output_bias"] = bias
    return permuted(weights, interleaved(config.d_model))


def _first(tensors: dict[str, Array], names: tuple[str, ...]) -> Array:
    return tensors[next(name for name in names if name in tensors)]


READING = ("w_q.weight", "w_k.weight", "w_v.weight", "linear_1.weight", "embedding.weight", "output.weight")
"""Matrices whose columns are the stream."""
WRITING = ("w_o.weight", "w_o.bias", "linear_2.weight", "linear_2.bias")
"""Matrices whose rows are the stream, and their biases."""
NORMS = ("norm.weight", "norm.bias")

Order = NDArray[np.int64]


def sines_first(width: int) -> Order:
    """0, 2, 4, ..., 1, 3, 5, ...: where each place of Marian's stream is found in the paper's."""
    return np.concatenate([np.arange(0, width, 2), np.arange(1, width, 2)])


def interleaved(width: int) -> Order:
    """The inverse: where each place of the paper's stream is found in Marian's."""
    return np.argsort(sines_first(width))


def permuted(weights: dict[str, Array], order: Order) -> dict[str, Array]:
    """The same Transformer with its stream in this order."""
    return {name: _permute(name, array, order) for name, array in weights.items()}


def _permute(name: str, array: Array, order: Order) -> Array:
    if name.endswith(READING):
        return np.ascontiguousarray(array[:, order])
    if name.endswith((*WRITING, *NORMS)):
        return array[order]
    return array
