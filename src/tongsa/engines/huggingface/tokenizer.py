"""tokenizer.json of Hugging Face tokenizers, made from a SentencePiece model: the same ids for the same tidy text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tongsa.engines.marian.sentencepiece_model import Piece, kind_of, read_pieces
from tongsa.text.subwords import END, UNKNOWN, Vocabulary

SPACE = "▁"
"""How SentencePiece writes the space before a word."""


def tokenizer_json(
    vocabulary: Vocabulary, more: Sequence[str], *, before: Sequence[int], behind: Sequence[int] = ()
) -> dict[str, Any]:
    """The tokenizer; `more` are tokens behind the pieces, `before` and `behind` are put around a text."""
    pieces = read_pieces(vocabulary.model)
    names = [*(piece.text for piece in pieces), *more]
    special = [END, UNKNOWN, *range(len(pieces), len(names))]
    around = [*before, *behind]
    single = [
        *({"SpecialToken": {"id": names[id], "type_id": 0}} for id in before),
        {"Sequence": {"id": "A", "type_id": 0}},
        *({"SpecialToken": {"id": names[id], "type_id": 0}} for id in behind),
    ]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    replaced = {"type": "Replace", "pattern": {"String": SPACE}, "content": " "}
    stripped = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": id, "content": names[id], **flags} for id in special],
        "normalizer": None,
        # No piece crosses a space.
        "pre_tokenizer": {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": single,
            "pair": [*single, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {names[id]: {"id": names[id], "ids": [id], "tokens": [names[id]]} for id in around},
        },
        "decoder": {"type": "Sequence", "decoders": [replaced, {"type": "ByteFallback"}, {"type": "Fuse"}, stripped]},
        "model": _model(vocabulary, pieces),
    }


def _model(vocabulary: Vocabulary, pieces: Sequence[Piece]) -> dict[str, Any]:
    ids = {piece.text: id for id, piece in enumerate(pieces)}
    has_bytes = any(piece.is_byte for piece in pieces)
    unknown = pieces[UNKNOWN].text
    kind = kind_of(vocabulary.model)
    if kind == "unigram":
        scored = [[piece.text, piece.score] for piece in pieces]
        return {"type": "Unigram", "unk_id": UNKNOWN, "vocab": scored, "byte_fallback": has_bytes}
    if kind == "word":
        return {"type": "WordLevel", "vocab": ids, "unk_token": unknown}
    return {
        "type": "BPE",
        "vocab": ids,
        "merges": _merges(pieces, ids) if kind == "bpe" else [],
        "unk_token": unknown,
        "fuse_unk": True,
        "byte_fallback": has_bytes,
        "ignore_merges": False,
    }


def _merges(pieces: Sequence[Piece], ids: dict[str, int]) -> list[list[str]]:
    """Every way to join two pieces into a third, the best third first, as SentencePiece prefers them."""
    found = []
    for piece in pieces:
        if not piece.is_normal:
            continue
        ways = [(piece.text[:place], piece.text[place:]) for place in range(1, len(piece.text))]
        known = [(left, right) for left, right in ways if left in ids and right in ids]
        found += [(-piece.score, ids[left], ids[right], left, right) for left, right in known]
    return [[left, right] for _, _, _, left, right in sorted(found)]
