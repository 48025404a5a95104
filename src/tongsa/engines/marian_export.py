"""A translator as a MarianMT model of Hugging Face transformers, with the same logits.

config.json  generation_config.json  model.safetensors
source.spm  target.spm  vocab.json  target_vocab.json  tokenizer_config.json
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from tongsa.base.errors import UsageError
from tongsa.base.files import replacing
from tongsa.config import TransformerSection
from tongsa.engines.permutation import permuted, sines_first
from tongsa.models.weights import read_tensors
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.text.subwords import END, UNKNOWN, Subwords, Vocabulary

POSITIONS = 1024
"""Rows of the table of sinusoids that transformers computes for itself."""
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


def write_marian(out: Path, directory: Path, card: Card, subwords: Subwords) -> None:
    """Write the MarianMT directory `out` for the translator in `directory`."""
    config = marian_can_hold(card)
    weights = permuted(read_tensors(Run(directory).weights_file), sines_first(config.d_model))
    with replacing(out) as temporary:
        temporary.mkdir(parents=True)
        save_file(to_marian(weights, config, subwords), temporary / "model.safetensors", metadata={"format": "pt"})
        _write_json(temporary / "config.json", _config(config, subwords))
        _write_json(temporary / "generation_config.json", _generation(card, subwords))
        _write_tokenizer(temporary, card, subwords)


def marian_can_hold(card: Card) -> TransformerSection:
    """The Transformer's settings, where MarianMT has the like; all that it has not is told."""
    config = card.recipe.model
    if not isinstance(config, TransformerSection):
        raise UsageError(f"MarianMT is a Transformer, and cannot hold {config.architecture}")
    own_widths = (config.key_width, config.value_width) != (config.d_model // config.heads,) * 2
    problems = {
        "its LayerNorms come first (norm = pre)": config.norm == "pre",
        "its positions are learned": config.positions == "learned",
        "its heads have a width of their own (d_k, d_v)": own_widths or config.d_model % config.heads != 0,
    }
    if any(problems.values()):
        told = [problem for problem, there in problems.items() if there]
        raise UsageError("MarianMT cannot hold this model", *told, "CTranslate2 can:  --format ctranslate2")
    return config


def to_marian(weights: dict[str, Tensor], config: TransformerSection, subwords: Subwords) -> dict[str, Tensor]:
    """The tensors under Marian's names, each once: transformers ties what its config says is tied."""
    tensors = {theirs: weights[ours].contiguous() for ours, theirs in layer_names(config)}
    source = weights["source_embedding.weight"]
    target = weights.get("target_embedding.weight", source)
    if _shared(config, subwords):
        tensors["model.shared.weight"] = source
    else:
        tensors["model.encoder.embed_tokens.weight"] = source
        tensors["model.decoder.embed_tokens.weight"] = target.clone()
    if not config.tied:
        tensors["lm_head.weight"] = weights["output.weight"]
    bias = torch.zeros(len(target)) + weights.get("output_bias", torch.zeros(()))
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
    return names


def _shared(config: TransformerSection, subwords: Subwords) -> bool:
    return subwords.joint and config.tied


def _config(config: TransformerSection, subwords: Subwords) -> dict[str, Any]:
    pad = subwords.target.pad
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "is_encoder_decoder": True,
        "vocab_size": len(subwords.source),
        "decoder_vocab_size": len(subwords.target),
        "d_model": config.d_model,
        "encoder_layers": config.encoder_layers,
        "decoder_layers": config.decoder_layers,
        "encoder_attention_heads": config.heads,
        "decoder_attention_heads": config.heads,
        "encoder_ffn_dim": config.d_ff,
        "decoder_ffn_dim": config.d_ff,
        "activation_function": config.activation,
        "dropout": config.dropout,
        "scale_embedding": True,
        "static_position_embeddings": True,
        "normalize_before": False,
        "normalize_embedding": False,
        "max_position_embeddings": POSITIONS,
        "share_encoder_decoder_embeddings": _shared(config, subwords),
        "tie_word_embeddings": config.tied,
        "pad_token_id": pad,
        "decoder_start_token_id": pad,
        "eos_token_id": END,
        "bos_token_id": None,
        "forced_eos_token_id": None,
        "torch_dtype": "float32",
    }


def _generation(card: Card, subwords: Subwords) -> dict[str, Any]:
    pad = subwords.target.pad
    return {
        "pad_token_id": pad,
        "decoder_start_token_id": pad,
        "eos_token_id": END,
        "bad_words_ids": [[pad]],
        "num_beams": card.recipe.decoding.beam,
        "max_length": 512,
    }


def _write_tokenizer(folder: Path, card: Card, subwords: Subwords) -> None:
    (folder / "source.spm").write_bytes(subwords.source.model)
    (folder / "target.spm").write_bytes(subwords.target.model)
    _write_json(folder / "vocab.json", _pieces(subwords.source))
    if not subwords.joint:
        _write_json(folder / "target_vocab.json", _pieces(subwords.target))
    settings = {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": card.source,
        "target_lang": card.target,
        "separate_vocabs": not subwords.joint,
        "model_max_length": POSITIONS,
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "pad_token": "<pad>",
    }
    _write_json(folder / "tokenizer_config.json", settings)


def _pieces(vocabulary: Vocabulary) -> dict[str, int]:
    assert vocabulary.pieces([END, UNKNOWN]) == ["</s>", "<unk>"], "the ids that Marian has too"
    return {piece: id for id, piece in enumerate(vocabulary.all_pieces())}


def _write_json(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
