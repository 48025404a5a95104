"""A translator as a MarianMT model of Hugging Face transformers, with the same logits.

config.json  generation_config.json  model.safetensors
source.spm  target.spm  vocab.json  target_vocab.json  tokenizer_config.json

Where the LayerNorms come first (norm = "pre"), it is a Pegasus model: MarianMT with its norms there, in transformers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors.numpy import save_file

from tongsa.base.errors import UsageError
from tongsa.base.files import replacing, system_errors
from tongsa.config import TransformerSection
from tongsa.engines.marian.weights import permuted, shares_embeddings, sines_first, to_marian
from tongsa.engines.weights import read_weights
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.text.subwords import END, UNKNOWN, Subwords, Vocabulary

POSITIONS = 1024
"""Rows of the table of sinusoids that transformers computes for itself."""


def write_marian(out: Path, directory: Path, card: Card, subwords: Subwords) -> None:
    """Write the MarianMT directory `out` for the translator in `directory`."""
    config = marian_can_hold(card, subwords)
    weights = permuted(read_weights(Run(directory), card, config, subwords), sines_first(config.d_model))
    with replacing(out) as temporary:
        temporary.mkdir(parents=True)
        with system_errors():
            save_file(to_marian(weights, config, subwords), temporary / "model.safetensors", metadata={"format": "pt"})
        _write_json(temporary / "config.json", _config(config, subwords))
        _write_json(temporary / "generation_config.json", _generation(card, subwords))
        _write_tokenizer(temporary, card, subwords)


def marian_can_hold(card: Card, subwords: Subwords) -> TransformerSection:
    """Return the Transformer's settings for MarianMT; one error lists everything that MarianMT lacks."""
    config = card.recipe.model
    if not isinstance(config, TransformerSection):
        raise UsageError(f"MarianMT is a Transformer, and cannot hold {config.architecture}")
    own_widths = (config.key_width, config.value_width) != (config.d_model // config.heads,) * 2
    problems = {
        "its LayerNorms come first (norm = pre), and it has two vocabularies": config.norm == "pre"
        and not subwords.joint,
        "its positions are learned": config.positions == "learned",
        "its heads have a width of their own (d_k, d_v)": own_widths or config.d_model % config.heads != 0,
    }
    told = [problem for problem, there in problems.items() if there]
    if experimental := config.experimental():
        raise UsageError("MarianMT cannot hold this model", *told, *experimental, "Only the native engine can run it.")
    if told:
        raise UsageError("MarianMT cannot hold this model", *told, "CTranslate2 can:  --format ctranslate2")
    return config


def _config(config: TransformerSection, subwords: Subwords) -> dict[str, Any]:
    pad = subwords.target.pad
    pre = config.norm == "pre"
    return {
        "architectures": ["PegasusForConditionalGeneration" if pre else "MarianMTModel"],
        "model_type": "pegasus" if pre else "marian",
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
        "normalize_before": pre,
        "normalize_embedding": False,
        "max_position_embeddings": POSITIONS,
        "share_encoder_decoder_embeddings": shares_embeddings(config, subwords),
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
        "bad_words_ids": [[id] for id in (pad, *sorted(subwords.target.unwritable))],
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
    assert vocabulary.pieces([END, UNKNOWN]) == ["</s>", "<unk>"], "Marian uses the same ids"
    return {piece: id for id, piece in enumerate(vocabulary.all_pieces())}


def _write_json(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
