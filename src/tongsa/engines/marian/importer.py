"""A MarianMT model of Hugging Face transformers (all of OPUS-MT is such) as a translator of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tongsa.base.errors import DirectoryError, UsageError
from tongsa.base.regular import read_regular
from tongsa.config import DecodingSection, Recipe, SubwordsSection, TransformerSection
from tongsa.config.recipe import shown
from tongsa.engines.marian.sentencepiece_model import kind_of, pieces_of, reordered
from tongsa.engines.marian.torch_file import read_torch_file
from tongsa.engines.marian.weights import from_marian
from tongsa.runs.card import Card, Provenance, language_code
from tongsa.runs.directory import Run
from tongsa.runs.weights import Array, read_safetensors
from tongsa.text.subwords import END, UNKNOWN, Subwords, Vocabulary

LARGEST = 1 << 28
"""Largest file that is read besides the weights, in bytes."""

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "swish", "silu": "swish"}
NORMS = {"marian": "post", "pegasus": "pre"}
"""Where the LayerNorms of a model_type are."""


def import_marian(
    directory: Path, out: Path, *, source: str = "", target: str = "", origin: str = "", licence: str = ""
) -> Card:
    """Write the translator directory `out` from a MarianMT directory; give languages if it does not name them.

    `origin` and `licence` are noted in the card; by default the origin is the name of the directory.
    """
    Run(out).refuse_to_overwrite()
    settings = _read_json(directory, "config.json")
    try:
        _check(directory, settings)
        tensors = _tensors(directory)
        subwords = _subwords(directory)
        config = _model(settings, tensors, subwords)
        weights = from_marian(tensors, config, settings)
        _check_sizes(directory, weights, subwords)
        decoding = _decoding(directory)
        languages = [
            language_code("the language", given or _language(directory, key, option))
            for given, key, option in ((source, "source_lang", "--source"), (target, "target_lang", "--target"))
        ]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DirectoryError(f"{directory} cannot be imported: its files are damaged ({shown(error)})") from error
    recipe = Recipe(model=config, subwords=_subwords_section(subwords), decoding=decoding)
    card = Card(
        one_sentence=True,  # OPUS-MT is trained on aligned sentences
        source=languages[0],
        target=languages[1],
        recipe=Recipe.from_values(recipe.to_values(), str(directory)),
        training=Provenance(imported=f"MarianMT, {origin or directory.name}", licence=licence),
    )
    out.mkdir(parents=True, exist_ok=True)
    subwords.save(out)
    Run(out).write_translator(card, weights)
    return card


def check_marian(directory: Path) -> None:
    """Raise an error if a MarianMT directory, which need not have its weights yet, cannot be imported."""
    settings = _read_json(directory, "config.json")
    try:
        _check(directory, settings)
        _subwords(directory)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DirectoryError(f"{directory} cannot be imported: its files are damaged ({shown(error)})") from error


def _check(directory: Path, settings: dict[str, Any]) -> None:
    """Report everything that our Transformer cannot represent in one error."""
    heads, widths = (
        {settings.get(f"{stack}_{name}") for stack in ("encoder", "decoder")} for name in ("attention_heads", "ffn_dim")
    )
    pad = settings.get("pad_token_id")
    size = settings.get("decoder_vocab_size") or settings.get("vocab_size") or 0
    problems = {
        f"model_type is {settings.get('model_type')}, not marian": settings.get("model_type") not in NORMS,
        f"activation_function is {settings.get('activation_function')}": settings.get("activation_function")
        not in ACTIVATIONS,
        "encoder and decoder have different numbers of heads": len(heads) != 1,
        "encoder and decoder have feed-forward networks of different widths": len(widths) != 1,
        "its LayerNorms come first (normalize_before)": bool(settings.get("normalize_before"))
        and settings.get("model_type") == "marian",
        "its embeddings are normalised (normalize_embedding)": bool(settings.get("normalize_embedding")),
        f"eos_token_id is {settings.get('eos_token_id')}, not {END}": settings.get("eos_token_id") != END,
        f"pad_token_id is {pad}, not the last one, {size - 1}": pad != size - 1,
        f"decoder_start_token_id is {settings.get('decoder_start_token_id')}, not that of <pad>": settings.get(
            "decoder_start_token_id"
        )
        != pad,
    }
    if any(problems.values()):
        told = [problem for problem, there in problems.items() if there]
        raise UsageError(f"{directory} cannot be imported", *told)


def _model(settings: dict[str, Any], tensors: dict[str, Array], subwords: Subwords) -> TransformerSection:
    shared = bool(settings.get("share_encoder_decoder_embeddings", True))
    tied = bool(settings.get("tie_word_embeddings", True) and settings.get("scale_embedding", False))
    bias = tensors.get("final_logits_bias", np.zeros(1, np.float32)).flatten()[:-1]
    config = TransformerSection(
        d_model=settings["d_model"],
        d_ff=settings["encoder_ffn_dim"],
        heads=settings["encoder_attention_heads"],
        encoder_layers=settings["encoder_layers"],
        decoder_layers=settings["decoder_layers"],
        dropout=float(settings.get("dropout", 0.1)),
        norm=NORMS[settings["model_type"]],  # type: ignore[arg-type]
        activation=ACTIVATIONS[settings["activation_function"]],  # type: ignore[arg-type]
        tied=tied and shared == subwords.joint,
        output_bias=bool(bias.any()),
    )
    problems = config.problems()
    if problems:
        raise UsageError("the model cannot be imported", *problems)
    return config


def _subwords(directory: Path) -> Subwords:
    """Vocabularies whose ids are those of vocab.json."""
    source_vocabulary = _vocabulary(directory / "vocab.json")
    separate = _read_json(directory, "tokenizer_config.json").get("separate_vocabs", False)
    target_vocabulary = _vocabulary(directory / "target_vocab.json") if separate else source_vocabulary
    source, target = (_read(directory / name) for name in ("source.spm", "target.spm"))
    if source == target and source_vocabulary == target_vocabulary:
        joint = _in_order(directory / "source.spm", source, source_vocabulary)
        return Subwords(joint, joint)
    return Subwords(
        _in_order(directory / "source.spm", source, source_vocabulary),
        _in_order(directory / "target.spm", target, target_vocabulary),
    )


def _in_order(path: Path, model: bytes, pieces: list[str]) -> Vocabulary:
    try:
        return Vocabulary(model if pieces_of(model) == pieces else reordered(model, pieces))
    except (ValueError, RuntimeError) as error:
        raise DirectoryError(f"{path} is not a SentencePiece model: {error}") from error


def _vocabulary(path: Path) -> list[str]:
    """Return the pieces in the order of their ids, without `<pad>`."""
    values = _read_json(path.parent, path.name)
    pieces = sorted(values, key=lambda piece: values[piece])
    whole = [values[piece] for piece in pieces] == list(range(len(pieces)))
    if not whole or pieces[-1] != "<pad>" or [pieces[END], pieces[UNKNOWN]] != ["</s>", "<unk>"]:
        raise UsageError(
            f"{path} cannot be imported",
            "Its ids must run from </s> = 0 and <unk> = 1 without gaps to <pad>, as in the models of OPUS-MT.",
        )
    if any(piece.startswith(">>") and piece.endswith("<<") for piece in pieces):
        raise UsageError(f"{path} has several target languages (>>xxx<<)", "Import a model for one pair of languages.")
    return pieces[:-1]


def _tensors(directory: Path) -> dict[str, Array]:
    path = directory / "model.safetensors"
    if not path.is_file() and (directory / "pytorch_model.bin").is_file():
        return read_torch_file((directory / "pytorch_model.bin").resolve())
    return read_safetensors(path.resolve())  # the cache of Hugging Face consists of links


def _check_sizes(directory: Path, weights: dict[str, Array], subwords: Subwords) -> None:
    target = weights.get("target_embedding.weight", weights["source_embedding.weight"])
    problems = [
        f"{side} embeddings have {len(table):,} rows, the vocabulary has {len(vocabulary):,} pieces with <pad>"
        for side, table, vocabulary in (
            ("source", weights["source_embedding.weight"], subwords.source),
            ("target", target, subwords.target),
        )
        if len(table) != len(vocabulary)
    ]
    if bool(target[-1].any()):
        problems.append("<pad>, which the decoder starts from, has an embedding that is not zero")
    if problems:
        raise UsageError(f"{directory} cannot be imported", *problems)


def _subwords_section(subwords: Subwords) -> SubwordsSection:
    return SubwordsSection(
        size=subwords.source.pad,
        kind=kind_of(subwords.source.model),  # type: ignore[arg-type]
        joint=subwords.source is subwords.target,
    )


def _decoding(directory: Path) -> DecodingSection:
    given = _read_json(directory, "generation_config.json") if (directory / "generation_config.json").is_file() else {}
    return DecodingSection(beam=int(given.get("num_beams") or DecodingSection.beam))


def _language(directory: Path, key: str, option: str) -> str:
    named = _read_json(directory, "tokenizer_config.json").get(key)
    if not isinstance(named, str) or not named:
        raise UsageError(f"{directory} does not say its {key}", f"Name it, for example:  {option} en")
    return named


def _read_json(directory: Path, name: str) -> dict[str, Any]:
    try:
        values = json.loads(_read(directory / name))
    except (ValueError, RecursionError) as error:
        raise DirectoryError(f"{directory / name} is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise DirectoryError(f"{directory / name} is not a JSON object")
    return values


def _read(path: Path) -> bytes:
    try:
        return read_regular(path.resolve(), LARGEST)
    except DirectoryError as error:
        raise DirectoryError(error.what, "A MarianMT directory needs it.") from error
