"""A language model as GPT-2, a masked language model as BERT, for Hugging Face transformers.

config.json  model.safetensors  tokenizer.json  tokenizer_config.json  generation_config.json (GPT-2)

Neither multiplies embeddings by sqrt(d_model), as the paper does (§3.4): the factor goes into the table, and the output
matrix is stored separately. Sinusoids become a table of "learned" positions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from tongsa.base.errors import UsageError
from tongsa.base.files import replacing, system_errors
from tongsa.config.architectures import ModelSection, TransformerLayers
from tongsa.data.masking import BertTokens
from tongsa.engines.huggingface.tokenizer import tokenizer_json
from tongsa.engines.weights import sinusoids
from tongsa.models import build_a
from tongsa.models.bert import Bert, BertSection
from tongsa.models.decoder_only import DecoderOnly, DecoderOnlySection
from tongsa.models.weights import read_weights
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.runs.weights import Array
from tongsa.text.subwords import END

POSITIONS = 1024
"""Rows of a table of sinusoids."""
NEVER = -1e4
"""The logit of `<pad>`, where a layout has a bias to say so."""
EPSILON = 1e-5
"""Of our LayerNorms."""
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "silu"}

GPT2_LAYER = {
    "residuals.0.norm": "ln_1",
    "self_attention.w_o": "attn.c_proj",
    "residuals.1.norm": "ln_2",
    "feed_forward.linear_1": "mlp.c_fc",
    "feed_forward.linear_2": "mlp.c_proj",
}
BERT_LAYER = {
    "self_attention.w_q": "attention.self.query",
    "self_attention.w_k": "attention.self.key",
    "self_attention.w_v": "attention.self.value",
    "self_attention.w_o": "attention.output.dense",
    "residuals.0.norm": "attention.output.LayerNorm",
    "feed_forward.linear_1": "intermediate.dense",
    "feed_forward.linear_2": "output.dense",
    "residuals.1.norm": "output.LayerNorm",
}
"""Ours and theirs."""


def write_gpt2(out: Path, run: Run) -> None:
    """Write a decoder-only language model as GPT-2."""
    card = run.read_card()
    section = card.recipe.model
    if not isinstance(section, DecoderOnlySection):
        raise _wrong(card, "GPT-2", "a language model of the architecture decoder-only (--task lm)")
    _refuse("GPT-2", section, {"norm": ("pre", "its LayerNorms come last (norm = post)")})
    vocabulary = run.read_subwords(card).target
    pad = vocabulary.pad
    tensors = to_gpt2(_arrays(run, card, DecoderOnly, pad + 1), section)
    settings = {"bos_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    files = {
        "config.json": _gpt2_config(section, tensors, pad),
        "generation_config.json": {
            "bos_token_id": pad,
            "eos_token_id": END,
            "pad_token_id": pad,
            "suppress_tokens": [pad, *sorted(vocabulary.unwritable)],
        },
        # A line begins after the end of another, and all text after <pad>: see tasks/language_model.py.
        "tokenizer.json": tokenizer_json(vocabulary, ["<pad>"], before=[pad, END]),
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", **settings},
    }
    _write(out, tensors, files)


def to_gpt2(weights: Mapping[str, Array], section: DecoderOnlySection) -> dict[str, Array]:
    """The tensors under GPT-2's names; its matrices are the other way round (rows are inputs)."""
    table = weights["embedding.weight"]
    tensors = {
        "transformer.wte.weight": table * _scale(section),
        "transformer.wpe.weight": _positions(weights, section),
        "lm_head.weight": weights.get("output.weight", table),
    }
    for part in ("weight", "bias"):
        tensors[f"transformer.ln_f.{part}"] = weights[f"norm.{part}"]
    for layer in range(section.layers):
        ours, theirs = f"decoder.{layer}", f"transformer.h.{layer}"
        for part in ("weight", "bias"):
            joined = [weights[f"{ours}.self_attention.w_{name}.{part}"] for name in "qkv"]
            tensors[f"{theirs}.attn.c_attn.{part}"] = np.concatenate(joined).T
            for name, other in GPT2_LAYER.items():
                tensors[f"{theirs}.{other}.{part}"] = weights[f"{ours}.{name}.{part}"].T
    return tensors


def _gpt2_config(section: DecoderOnlySection, tensors: Mapping[str, Array], pad: int) -> dict[str, Any]:
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": pad + 1,
        "n_positions": len(tensors["transformer.wpe.weight"]),
        "n_embd": section.d_model,
        "n_layer": section.layers,
        "n_head": section.heads,
        "n_inner": section.d_ff,
        "activation_function": ACTIVATIONS[section.activation],
        "resid_pdrop": section.dropout,
        "embd_pdrop": section.dropout,
        "attn_pdrop": 0.0,
        "layer_norm_epsilon": EPSILON,
        "tie_word_embeddings": False,
        "bos_token_id": pad,
        "eos_token_id": END,
        "pad_token_id": pad,
        "torch_dtype": "float32",
    }


def write_bert(out: Path, run: Run) -> None:
    """Write a masked language model as BERT."""
    card = run.read_card()
    section = card.recipe.model
    if card.task != "mlm" or not isinstance(section, BertSection):
        raise _wrong(card, "BERT", "a masked language model (--task mlm)")
    _refuse(
        "BERT",
        section,
        {
            "norm": ("post", "its LayerNorms come first (norm = pre)"),
            "activation": ("gelu", "its activation is not gelu"),
        },
    )
    vocabulary = run.read_subwords(card).target
    tokens = BertTokens.beyond(vocabulary)
    tensors = to_bert(_arrays(run, card, Bert, tokens.size), section)
    names = {"cls_token": "[CLS]", "sep_token": "</s>", "mask_token": "[MASK]", "pad_token": "<pad>"}
    files = {
        "config.json": _bert_config(section, tensors, tokens),
        "tokenizer.json": tokenizer_json(vocabulary, ["[CLS]", "[MASK]", "<pad>"], before=[tokens.first], behind=[END]),
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>", **names},
    }
    _write(out, tensors, files)


def to_bert(weights: Mapping[str, Array], section: BertSection) -> dict[str, Array]:
    """The tensors under BERT's names; both its kinds of segments are nothing."""
    table = weights["embedding.weight"]
    bias = np.zeros(len(table), np.float32)
    bias[-1] = NEVER
    embeddings, head = "bert.embeddings", "cls.predictions"
    tensors = {
        f"{embeddings}.word_embeddings.weight": table * _scale(section),
        f"{embeddings}.position_embeddings.weight": _positions(weights, section),
        f"{embeddings}.token_type_embeddings.weight": np.zeros((2, section.d_model), np.float32),
        f"{head}.decoder.weight": table,
        f"{head}.decoder.bias": bias,
        f"{head}.bias": bias.copy(),
    }
    for part in ("weight", "bias"):
        tensors[f"{embeddings}.LayerNorm.{part}"] = weights[f"embedding_norm.{part}"]
        tensors[f"{head}.transform.dense.{part}"] = weights[f"transform.{part}"]
        tensors[f"{head}.transform.LayerNorm.{part}"] = weights[f"transform_norm.{part}"]
        for layer in range(section.layers):
            for name, other in BERT_LAYER.items():
                tensors[f"bert.encoder.layer.{layer}.{other}.{part}"] = weights[f"encoder.{layer}.{name}.{part}"]
    return tensors


def _bert_config(section: BertSection, tensors: Mapping[str, Array], tokens: BertTokens) -> dict[str, Any]:
    return {
        "architectures": ["BertForMaskedLM"],
        "model_type": "bert",
        "vocab_size": tokens.size,
        "max_position_embeddings": len(tensors["bert.embeddings.position_embeddings.weight"]),
        "hidden_size": section.d_model,
        "num_hidden_layers": section.layers,
        "num_attention_heads": section.heads,
        "intermediate_size": section.d_ff,
        "hidden_act": "gelu",
        "hidden_dropout_prob": section.dropout,
        "attention_probs_dropout_prob": 0.0,
        "layer_norm_eps": EPSILON,
        "type_vocab_size": 2,
        "tie_word_embeddings": False,
        "pad_token_id": tokens.pad,
        "torch_dtype": "float32",
    }


def _wrong(card: Card, layout: str, needed: str) -> UsageError:
    return UsageError(
        f"{layout} cannot hold {card.recipe.model.architecture}, trained for {card.task}", f"It holds {needed}."
    )


def _refuse(layout: str, section: TransformerLayers, needed: Mapping[str, tuple[str, str]]) -> None:
    """One error lists everything of this model that the layout lacks."""
    told = [problem for key, (value, problem) in needed.items() if getattr(section, key) != value]
    told += replace(section, scale_embeddings=True).experimental()  # whatever the scale, it is in the table
    whole = section.d_model // section.heads
    if section.d_model % section.heads or (section.key_width, section.value_width) != (whole, whole):
        told.append("its heads have a width of their own (d_k, d_v)")
    if told:
        raise UsageError(f"{layout} cannot hold this model", *told)


def _scale(section: TransformerLayers) -> np.float32:
    return np.float32(math.sqrt(section.d_model) if section.scale_embeddings else 1.0)


def _positions(weights: Mapping[str, Array], section: TransformerLayers) -> Array:
    if section.positions == "learned":
        return weights["positions.weight"]
    return sinusoids(POSITIONS, section.d_model)


def _arrays(run: Run, card: Card, kind: type[Any], size: int) -> dict[str, Array]:
    section: ModelSection = card.recipe.model
    tensors = read_weights(run, card, lambda: build_a(kind, section, size))
    return {name: tensor.numpy() for name, tensor in tensors.items()}


def _write(out: Path, tensors: Mapping[str, Array], files: Mapping[str, dict[str, Any]]) -> None:
    with replacing(out) as temporary:
        temporary.mkdir(parents=True)
        with system_errors():
            whole = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
            save_file(whole, temporary / "model.safetensors", metadata={"format": "pt"})
        for name, values in files.items():
            text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
            (temporary / name).write_text(text, encoding="utf-8")
